/** The values of `status_detail` that a browser can have. Source: docs/devices.md. */
export const details = { subscribed: 1, noPermission: 0, optedOut: -2 } as const;

/** What the service gets to know of this browser. */
export const device = () => ({
  locale: navigator.language.slice(0, 35),
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  model: navigator.userAgent.slice(0, 100),
  sdk: "herald-web",
  sdk_version: "0.1.0",
});

export const language = (): string => navigator.language.replace(/^[A-Za-z]+/, (one) => one.toLowerCase());

/** Why pushes cannot be had here: of an iPhone the site has to be on its home screen first. */
export const isPushable = (): boolean => "serviceWorker" in navigator && "PushManager" in globalThis;
