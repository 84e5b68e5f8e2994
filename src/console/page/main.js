// SPDX-License-Identifier: Apache-2.0
// The frame of the console: which page is shown, who is signed in, and whether the server is there.
import { announce, field, h, link, notice, show } from "./element.js";
import * as server from "./server.js";
import { apiPage } from "./api.js";
import { logPage } from "./log.js";
import { modelPage } from "./model.js";
import { overviewPage } from "./overview.js";
import { tracePage } from "./trace.js";

const THEME = "nereid-theme";
const content = document.getElementById("content");
const connection = document.getElementById("connection");

/** What every page gets. `signal` is aborted when another page is shown. */
let shown = new AbortController();
let session = null;

const PAGES = [
  { name: "", title: "Overview", make: overviewPage },
  { name: "models", title: "Model", make: modelPage, hidden: true },
  { name: "traces", title: "Traces", make: tracePage },
  { name: "log", title: "Log", make: logPage },
  { name: "api", title: "API", make: apiPage },
];

function place() {
  const hash = location.hash.replace(/^#\/?/, "");
  const parts = hash === "" ? [] : hash.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { page: PAGES.find((page) => page.name === (parts[0] ?? "")) ?? PAGES[0],
           parts: parts.slice(1) };
}

function setConnection(works, problem) {
  connection.classList.toggle("lost", !works);
  const text = works ? "" : `Not connected: ${problem}. The figures are old; trying again.`;
  if (connection.textContent !== text) connection.textContent = text;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function preferredTheme() {
  return localStorage.getItem(THEME)
    ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function themeButton() {
  return h("button", {
    type: "button",
    click: () => {
      const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      localStorage.setItem(THEME, theme);
      setTheme(theme);
      announce(`${theme} colours`);
    },
  }, "Light or dark");
}

function showFrame() {
  const current = place().page;
  show(document.getElementById("pages"), PAGES.filter((page) => !page.hidden).map((page) => {
    const anchor = link(page.name ? [page.name] : [], page.title);
    if (page === current) anchor.setAttribute("aria-current", "page");
    return anchor;
  }));
  const roles = session?.guarded && session.roles.join(", ");
  show(document.getElementById("session"),
    roles && h("span", { class: "quiet" }, `Roles: ${roles}`),
    session?.guarded && server.token() && h("button", { type: "button", click: signOut }, "Sign out"),
    themeButton());
}

function signOut() {
  server.setToken("");
  session = null;
  announce("Signed out");
  start();
}

function showSignIn(problem) {
  shown.abort();
  const input = h("input", { type: "password", class: "whole", autocomplete: "off",
                             spellcheck: "false", required: true });
  const form = h("form", {
    class: "card",
    submit: (event) => {
      event.preventDefault();
      server.setToken(input.value.trim());
      start();
    },
  },
    h("h1", { tabindex: "-1" }, "Sign in"),
    h("p", null, "This server answers callers with a token only. It is kept in this tab until you "
      + "sign out or close it."),
    problem && notice(problem),
    field("Token", input, "The text that “nereid token create” has printed, like name.secret"),
    h("button", { class: "main" }, "Sign in"));
  document.title = "Sign in – Nereid console";
  showFrame();
  show(content, form);
  input.focus();
}

/** Shows an error of a page: the form for the token if that is what is missing. */
function fail(error, signal) {
  if (signal.aborted) return;
  if (error instanceof server.Refused && error.status === 401) {
    showSignIn(server.token() ? error.message : "");
    return;
  }
  show(content, h("h1", null, "This page cannot be shown"),
    notice(error instanceof server.Refused ? error.message
                                           : `The server cannot be reached (${error.message}).`),
    h("button", { type: "button", click: start }, "Try again"));
}

async function showPage(moveFocus) {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const { page, parts } = place();
  const title = parts[0] ? `${parts[0]} – ${page.title}` : page.title;
  document.title = `${title} – Nereid console`;
  showFrame();
  setConnection(true);
  show(content, h("p", { class: "quiet" }, "Loading…"));
  try {
    await page.make({ content, parts, session, signal, setConnection });
  } catch (error) {
    fail(error, signal);
  }
  if (!moveFocus || signal.aborted) return;
  const heading = content.querySelector("h1");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  scrollTo(0, 0);
}

async function start() {
  const { signal } = shown;
  try {
    session = await server.get("/console/v1/session");
  } catch (error) {
    return fail(error, signal.aborted ? new AbortController().signal : signal);
  }
  return showPage(false);
}

setTheme(preferredTheme());
addEventListener("hashchange", () => (session ? showPage(true) : start()));
// A skip link would change the hash, and with it the page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});
start();
