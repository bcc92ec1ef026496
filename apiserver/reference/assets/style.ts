/** How the reference looks. Colours have a contrast of 4.5 with what they stand on, in both schemes. */
export const style = `:root {
  color-scheme: light dark;
  --text: light-dark(#1c1e21, #e6e7e9);
  --dim: light-dark(#565c64, #a8aeb6);
  --back: light-dark(#fff, #16181b);
  --card: light-dark(#f4f5f7, #22252a);
  --line: light-dark(#d9dce1, #3a3f46);
  --link: light-dark(#1a57b0, #8ab8ff);
  --get: light-dark(#175f2c, #7ddc97);
  --post: light-dark(#1a57b0, #8ab8ff);
  --change: light-dark(#7a4d00, #e8bd55);
  --delete: light-dark(#a8202a, #ff9c9d);
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 4.5rem; }
body {
  margin: 0;
  background: var(--back);
  color: var(--text);
  font:
    1rem / 1.5 system-ui,
    sans-serif;
  overflow-wrap: anywhere;
}
a { color: var(--link); }
a:focus-visible,
button:focus-visible,
input:focus-visible,
summary:focus-visible {
  outline: 2px solid var(--link);
  outline-offset: 2px;
}
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; padding: 0.5rem 1rem; background: var(--back); }
header {
  position: sticky;
  top: 0;
  z-index: 1;
  display: flex;
  gap: 1rem;
  align-items: center;
  padding: 0.6rem 1rem;
  background: var(--back);
  border-bottom: 1px solid var(--line);
}
.brand {
  display: flex;
  gap: 0.5rem;
  align-items: center;
  color: var(--text);
  font-weight: 600;
  text-decoration: none;
}
search { position: relative; flex: 1; max-width: 32rem; }
search label,
#count {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: 0;
  overflow: hidden;
  clip-path: inset(50%);
}
#search,
button {
  padding: 0.35rem 0.7rem;
  background: var(--card);
  color: var(--text);
  border: 1px solid var(--line);
  border-radius: 0.4rem;
  font: inherit;
}
#search { width: 100%; }
#search::placeholder { color: var(--dim); opacity: 1; }
#found {
  position: absolute;
  left: 0;
  right: 0;
  max-height: 70vh;
  margin: 0.3rem 0 0;
  padding: 0.3rem;
  overflow-y: auto;
  background: var(--back);
  border: 1px solid var(--line);
  border-radius: 0.4rem;
  list-style: none;
}
#found a { display: block; padding: 0.4rem 0.6rem; text-decoration: none; }
#found a:is(:hover, :focus) { background: var(--card); }
#found small { display: block; color: var(--dim); }
#theme { margin-left: auto; white-space: nowrap; }
.columns { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
.to-contents { display: none; }
#contents {
  grid-area: 1 / 1;
  position: sticky;
  top: 3.6rem;
  align-self: start;
  max-height: calc(100vh - 3.6rem);
  padding: 1rem;
  overflow-y: auto;
  font-size: 0.9rem;
}
#contents ul { margin: 0; padding: 0; list-style: none; }
#contents li a {
  display: block;
  padding: 0.25rem 0.5rem;
  border-radius: 0.3rem;
  color: var(--text);
  text-decoration: none;
}
#contents li a:hover, #contents [aria-current] { background: var(--card); }
#contents [aria-current] { font-weight: 600; }
#contents summary { padding: 0.3rem 0.5rem; font-weight: 600; }
main { grid-area: 1 / 2; max-width: 60rem; padding: 0.5rem 2rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2rem 0 0.5rem; padding-top: 0.8rem; border-top: 1px solid var(--line); font-size: 1.15rem; }
code { font: 0.875em / 1.5 ui-monospace, monospace; }
p > code, li > code, summary > code { padding: 0.1em 0.3em; background: var(--card); border-radius: 0.25rem; }
pre {
  position: relative;
  margin: 0.5rem 0;
  padding: 0.8rem 1rem;
  background: var(--card);
  border-radius: 0.4rem;
  white-space: pre-wrap;
}
.copy { position: absolute; top: 0.4rem; right: 0.4rem; padding: 0.1rem 0.5rem; font: 0.8rem system-ui, sans-serif; }
summary { cursor: pointer; }
.address { font-size: 1.1rem; }
.method { font: 600 0.75rem ui-monospace, monospace; }
.get { color: var(--get); }
.post { color: var(--post); }
.patch, .put { color: var(--change); }
.delete, .required { color: var(--delete); }
.members, .errors, .operations, .forms { margin: 0.5rem 0; padding: 0; list-style: none; }
.members > li, .errors > li, .operations > li { padding: 0.5rem 0; border-top: 1px solid var(--line); }
.members > li:target { background: var(--card); }
.members p { margin: 0.15rem 0; }
details > .members,
details > .forms,
details > .rules {
  margin-left: 0.3rem;
  padding-left: 1rem;
  border-left: 2px solid var(--line);
}
.name { font-weight: 600; }
.kind, .bounds, .status { color: var(--dim); font-size: 0.9rem; }
.required { font-size: 0.85rem; }
.rules { padding-left: 1.2rem; }
.neighbours { display: flex; justify-content: space-between; gap: 2rem; margin-top: 3rem; }
@media (max-width: 56rem) {
  .columns { display: block; }
  .to-contents { display: block; }
  header { flex-wrap: wrap; position: static; }
  search { order: 1; flex-basis: 100%; max-width: none; }
  #contents { position: static; max-height: none; border-top: 1px solid var(--line); }
  main { padding: 0.5rem 1rem 2rem; }
  html { scroll-padding-top: 0.5rem; }
}
@media print {
  header, #contents, .copy, .unfold { display: none; }
}
`;

/** Our sign: a horn. */
export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#1a57b0"/><path d="M4 10v4h3l9 5V5l-9 5H4zm14 0c1 .5 1.5 1.2 1.5 2s-.5 1.5-1.5 2z" fill="#fff"/></svg>`;
