import { getCACertificates } from "node:tls";
import { type Authorities, authoritiesOf } from "../../channels/kit/authorities.ts";

let read: Authorities | undefined;

/** The public authorities that Node brings, and those of `NODE_EXTRA_CA_CERTS`. Read once: that takes some 50 ms. */
export const publicAuthorities = (): Authorities => (read ??= authoritiesOf(getCACertificates("default")));
