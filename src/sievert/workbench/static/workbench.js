// Copies a command, counts columns without a role, shows the labels of a level, crosses out a verdict on other levels, lets go of a page that is being left.
// Every page works without this file.
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
document.querySelectorAll(".levels").forEach((levels) => {
  const show = () => {
    const chosen = levels.querySelector("input:checked").value;
    levels.querySelectorAll("[data-labels]").forEach((each) => { each.hidden = each.dataset.labels !== chosen; });
  };
  levels.addEventListener("input", show);
  show();
});
document.querySelectorAll("[data-switches]").forEach((form) => {
  const panel = document.getElementById(form.dataset.switches);
  if (!panel) return;
  const mark = () => {
    const moved = (each) => each.checked !== each.defaultChecked || each.value !== each.defaultValue;
    const chosen = [...form.querySelectorAll("option")].some((each) => each.selected !== each.defaultSelected);
    const changed = chosen || [...form.querySelectorAll("input:not([type=hidden])")].some(moved);
    panel.classList.toggle("outdated", changed);
    panel.querySelector("[data-changed]").hidden = !changed;
  };
  form.addEventListener("input", mark);
  mark();
});
// A page that waits is drawn anew when its work is done; not while it is being left, which would call the reader back.
const LEAVING = 15000; // milliseconds; a download leaves no page
let left = -LEAVING;
addEventListener("beforeunload", () => { left = performance.now(); });
document.addEventListener("htmx:after:request", (event) => {
  if (performance.now() - left < LEAVING) event.preventDefault();
});
