/** Whether an address is https; plain http only for a loopback host, where simulators and tests live. */
export const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && loopback.test(hostname));

const loopback = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/;
