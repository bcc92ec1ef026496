/** The style of the pages for people, in an app's colour: light or dark as the reader has it, from 320 px on. */
export const styleIn = (colour: string): string => `
:root { color-scheme: light dark; --text: #1c1e21; --back: #f4f5f7; --card: #fff; --line: #72767c; --button: ${colour};
  --on-button: ${readableOn(colour)} }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e7e9; --back: #16181b; --card: #22252a; --line: #9a9fa6 }
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--back); color: var(--text);
  font: 1.05rem/1.5 system-ui, sans-serif }
main { box-sizing: border-box; width: min(28rem, 100% - 2rem); margin: 1rem; padding: 1.5rem; border-radius: .75rem;
  background: var(--card); overflow-wrap: anywhere }
h1 { margin-top: 0; font-size: 1.4rem }
h2 { margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 1.1rem }
img { display: block; max-width: 100%; max-height: 4rem; margin-bottom: 1.5rem }
fieldset { margin: 0 0 1.25rem; padding: 0; border: 0 }
legend { padding: 0; margin-bottom: .5rem }
label { display: flex; gap: .75rem; align-items: center; min-height: 2.75rem }
input { flex: none; width: 1.4rem; height: 1.4rem; accent-color: var(--button) }
button { min-height: 2.75rem; padding: .6rem 1.4rem; border: 1px solid var(--line); border-radius: .5rem;
  background: var(--button); color: var(--on-button); font: inherit; font-weight: 600; cursor: pointer }
a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--text); outline-offset: 2px }
`;

/** Black or white, whichever has more contrast: 4.5 to 1 at least. Source: WCAG 2.2, relative luminance. */
export const readableOn = (colour: string): "#000" | "#fff" => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) =>
    linear(Number.parseInt(colour.slice(from, from + 2), 16)),
  );
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? "#000" : "#fff";
};

const linear = (value: number): number => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};
