/** What the pages of the reference do where there are scripts: search, theme, copying. They are complete without. */
export const script = String.raw`const here = document.currentScript.src;
const root = document.documentElement;

const kept = {
  get: (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // the reader lets nothing be kept
    }
  },
  set: (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // the reader lets nothing be kept
    }
  },
};

const themes = ["auto", "light", "dark"];
const applyTheme = (theme) => {
  root.dataset.theme = theme;
};
applyTheme(themes.includes(kept.get("theme")) ? kept.get("theme") : "auto"); // before anything is drawn

const startTheme = () => {
  const button = document.querySelector("#theme");
  const say = () => {
    button.textContent = "Theme: " + root.dataset.theme;
  };
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    kept.set("theme", next);
    applyTheme(next);
    say();
  });
  say();
  button.hidden = false;
};

/** Every word has to be found; what has it in its title comes first. */
const find = (entries, text) => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = ({ title, about, words: more }) => {
    const places = [title, about, more].map((place) => place.toLowerCase());
    let sum = 0;
    for (const word of words) {
      const at = places.findIndex((place) => place.includes(word));
      if (at === -1) return null;
      sum += at;
    }
    return sum;
  };
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter((one) => one.rank !== null)
    .sort((a, b) => a.rank - b.rank)
    .map((one) => one.entry);
};

const mostFound = 20;

const itemOf = ({ to, title, about }) => {
  const [item, link, small] = ["li", "a", "small"].map((name) => document.createElement(name));
  link.href = new URL(to, here).href;
  small.textContent = about;
  link.append(title, small);
  item.append(link);
  return item;
};

const startSearch = () => {
  const [box, input, found, count] = ["search", "#search", "#found", "#count"].map((name) =>
    document.querySelector(name),
  );
  let entries;
  const load = () => {
    entries ??= fetch(new URL("search.json", here)).then((reply) => reply.json());
    entries.catch(() => {
      entries = undefined;
    });
    return entries;
  };
  const close = () => {
    found.hidden = true;
    found.replaceChildren();
  };
  const show = async () => {
    const text = input.value;
    const all = find(await load(), text);
    if (text !== input.value) return; // another word came meanwhile
    found.replaceChildren(...all.slice(0, mostFound).map(itemOf));
    found.hidden = all.length === 0;
    count.textContent = text.trim() === "" ? "" : all.length + " found";
  };
  const go = (by) => {
    const stops = [input, ...found.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    stops[Math.min(Math.max(at + by, 0), stops.length - 1)].focus();
  };
  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) go(steps[event.key]);
    else if (event.key === "Enter" && event.target === input) found.querySelector("a")?.click();
    else if (event.key === "Escape") {
      close();
      input.focus();
    } else return;
    event.preventDefault();
  });
  found.addEventListener("click", (event) => {
    if (event.target.closest("a")) close(); // the page may be this one
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea")) return;
    event.preventDefault();
    input.focus();
  });
  box.hidden = false;
};

const startCopying = () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("pre")) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      button.textContent = "Copied";
    });
    block.append(button);
  }
};

const nameOf = (sample) => sample.querySelector("summary").textContent;

/** The language that was opened last is open on the next page. */
const startSamples = () => {
  const all = [...document.querySelectorAll(".sample")];
  for (const sample of all) {
    if (nameOf(sample) === kept.get("language")) sample.open = true; // closes the others: they have one name
    sample.addEventListener("toggle", () => {
      if (sample.open) kept.set("language", nameOf(sample));
    });
  }
};

const startUnfolding = () => {
  const button = document.querySelector(".unfold");
  if (button === null) return;
  const all = [...button.closest("section").querySelectorAll("li > details")];
  if (all.length === 0) return;
  button.addEventListener("click", () => {
    const isOpening = all.some((one) => !one.open);
    for (const one of all) one.open = isOpening;
    button.textContent = isOpening ? "Close all" : "Open all";
  });
  button.hidden = false;
};

/** The list of contents shows where the reader is; the page itself stays at its top. */
const startContents = () => {
  const [contents, current] = ["#contents", "#contents [aria-current]"].map((name) => document.querySelector(name));
  if (current !== null) contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
};

document.addEventListener("DOMContentLoaded", () => {
  for (const start of [startTheme, startSearch, startCopying, startSamples, startUnfolding, startContents]) start();
});
`;
