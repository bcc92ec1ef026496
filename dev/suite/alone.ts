/** Files that judge how long something takes. They run at the end, one after the other, with nothing beside them. */
export const alone: readonly string[] = ["test/integration/operator/within-a-second.test.ts"];
