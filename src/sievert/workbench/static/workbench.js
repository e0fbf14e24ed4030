// Copies a command and counts columns without a role. Every page works without this file.
document.querySelectorAll("[data-copy]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).innerText.replace(/\s+/g, " ").trim();
    await navigator.clipboard.writeText(text);
    const words = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = words; }, 2000);
  });
});
document.querySelectorAll("[data-roles]").forEach((form) => {
  const tally = form.querySelector("[data-tally]");
  const person = form.querySelector("[data-person]");
  form.addEventListener("change", () => {
    const selects = [...form.querySelectorAll("[data-role]")];
    const bare = selects.filter((select) => !select.value && select.dataset.role !== person.value);
    const words = bare.length ? tally.dataset.some.replace("{number}", bare.length) : tally.dataset.none;
    if (tally.textContent !== words) tally.textContent = words;
  });
});
