// Copies the command. Every page works without this file.
document.querySelectorAll("[data-copy]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).innerText.replace(/\s+/g, " ").trim();
    await navigator.clipboard.writeText(text);
  });
});
