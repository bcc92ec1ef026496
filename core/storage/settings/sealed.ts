/** A secret at rest: AES-256-GCM under the key named by `kid`; `data` is base64 of nonce (12), ciphertext, tag (16). */
export type Sealed = { kid: string; data: string };
