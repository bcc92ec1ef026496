import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";

/** Connects to a provider; `opened` is called once HTTP/2 may be spoken. Over TLS unless the address is `http:`. */
export const openSocket = ({ protocol, hostname, port }: URL, ca: string | undefined, opened: () => void): Socket => {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol === "http:") return connectTcp({ host, port: Number(port || 80) }, opened);
  const socket: TLSSocket = connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ["h2"],
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
  socket.once("secureConnect", () => {
    if (socket.alpnProtocol === "h2") opened();
    else socket.destroy(new Error("the peer does not speak HTTP/2"));
  });
  return socket;
};
