import { addTouch as real } from "#core/domain/messages/touches.ts";

export { isPacedClick, judgePace, touchesByPeople } from "#core/domain/messages/touches.ts";

/** Keeps the first open and the first click of a delivery, and no further one. */
export const addTouch: typeof real = (next, receipt) => {
  const known = receipt.kind === "opened" ? next.opened_at : next.clicked_at;
  if (known === undefined) real(next, receipt);
};
