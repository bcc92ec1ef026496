import { type Credentials, makeCredentials } from "../../../dev/simulators/kit/credentials.ts";

let made: Credentials | undefined;

/**
 * Accounts that simulators know, the same ones for all files of a process: to make them costs a tenth of a second of
 * processor time, for keys of RSA. Who needs others that are unknown makes them.
 */
export const testCredentials = (): Credentials => (made ??= makeCredentials());
