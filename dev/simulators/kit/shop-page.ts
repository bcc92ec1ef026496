type Page = { url: string; appId: string; scripts: readonly { address: string; integrity: string }[] };

/** The shop's page: what a site puts into its own to have the client. */
export const pageOf = ({ url, appId, scripts }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A shop with Herald</title>
</head>
<body data-app="${appId}" data-service="${url}">
<main>
<h1>A shop</h1>
<p><button id="ask">Tell me about my parcels</button> <button id="send" disabled>Send me a notification</button>
<button id="leave" disabled>No more</button></p>
<p>What came: <herald-inbox></herald-inbox></p>
<p id="state" role="status">Nobody is registered yet.</p>
</main>
${scripts.map(({ address, integrity }) => `<script src="${address}" integrity="${integrity}" crossorigin="anonymous"></script>`).join("\n")}
<script src="/shop.js"></script>
</body>
</html>
`;

/** The shop's own script. */
export const script = `const { app: appId, service: url } = document.body.dataset;
const app = Herald.herald({ appId, url });
document.querySelector("herald-inbox").app = app;
HeraldInApp.showInApp(app);
const [ask, send, leave, state] = ["ask", "send", "leave", "state"].map((id) => document.getElementById(id));

const show = async (done) => {
  const { subscriptionId } = await app.who();
  const known = subscriptionId === null ? null : await app.subscription();
  const isOn = known !== null && known.has_token && known.status === "subscribed";
  send.disabled = leave.disabled = !isOn;
  state.textContent = done + (known === null ? "" : " This browser is " + subscriptionId + ", " + known.status + ".");
};

const on = (button, act) =>
  button.addEventListener("click", () =>
    act().then(show, (error) => {
      state.textContent = String(error);
    }),
  );

on(ask, async () => ((await app.askForPush()) ? "You are told of your parcels." : "You did not agree."));
on(leave, async () => {
  await app.optOut();
  return "You are told nothing more.";
});
on(send, async () => {
  const body = JSON.stringify(await app.who());
  const { status } = await fetch("/send", { method: "POST", body });
  return "The service answered " + status + ".";
});
show("");
`;
