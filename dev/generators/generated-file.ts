/** A committed file that follows from the code. `path` is relative to the repository. */
export type GeneratedFile = { path: string; text: string };
