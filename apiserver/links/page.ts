import { escaped } from "../http/markup.ts";

/** The pages of unsubscribing: no script, nothing that is loaded, light or dark as the reader has it. */
export const page = {
  question: (who: string, sender: string): string =>
    html(
      "Unsubscribe",
      `<p>${escaped(who)} will get no more mails from ${escaped(sender)}.</p>
<form method="post"><button type="submit">Unsubscribe</button></form>`,
    ),
  done: (who: string, sender: string): string =>
    html("You are unsubscribed", `<p>${escaped(who)} will get no more mails from ${escaped(sender)}.</p>`),
};

const html = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;

const style = `
:root { color-scheme: light dark; --text: #1c1e21; --back: #f4f5f7; --card: #fff; --button: #1f5fbf; --on-button: #fff }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e7e9; --back: #16181b; --card: #22252a; --button: #7fb0ff; --on-button: #101214 }
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--back); color: var(--text);
  font: 1.05rem/1.5 system-ui, sans-serif }
main { max-width: 26rem; margin: 1rem; padding: 2rem; border-radius: .75rem; background: var(--card); text-align: center;
  overflow-wrap: anywhere }
h1 { margin-top: 0; font-size: 1.4rem }
button { padding: .7rem 1.4rem; border: 0; border-radius: .5rem; background: var(--button); color: var(--on-button);
  font: inherit; font-weight: 600; cursor: pointer }
button:focus-visible { outline: 3px solid var(--text); outline-offset: 2px }
`;
