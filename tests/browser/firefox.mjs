// Every page of a workbench in Firefox: node firefox.mjs PUPPETEER FIREFOX ADDRESS FOLDER POLICY
// Prints one line of JSON: what was said on the console, what failed, how far pages scroll sideways.
import { createRequire } from "node:module";

const [, , modules, firefox, address, folder, policy] = process.argv;
const puppeteer = createRequire(`${modules}/`)("puppeteer-core");
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: firefox, headless: true,
  defaultViewport: { width: 1280, height: 800 },
});
const page = await browser.newPage();
const noted = [];
page.on("console", (it) => noted.push(`console ${it.text()}`));
page.on("pageerror", (it) => noted.push(`error ${it.message}`));
const origin = new URL(address).origin;
page.on("request", (it) => {
  if (!it.url().startsWith(origin) && !it.url().startsWith("data:")) noted.push(`request ${it.url()}`);
});
const settled = async () => {
  await page.waitForFunction(() => !document.querySelector("form.cancel"), { timeout: 180000 });
};
await page.goto(address);
await settled();
await page.goto(new URL("policy", page.url()).href);
await page.click("#source-own");
await page.type("#file", policy);
await Promise.all([page.waitForNavigation(), page.click("#policy-form button")]);
const pages = {};
for (const step of ["load", "roles", "policy", "assess", "explain", "protect", "compare", "synthetic", "report"]) {
  await page.goto(new URL(step, page.url()).href);
  await settled();
  pages[step] = await page.evaluate(() => ({
    heading: document.querySelector("h1").textContent,
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  await page.screenshot({ path: `${folder}/firefox_${step}.png` });
}
await browser.close();
console.log(JSON.stringify({ noted, pages }));
