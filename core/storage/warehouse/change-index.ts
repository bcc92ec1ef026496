/** The index that finds the changed rows of an app, in the order in which they changed. */
export const changeIndex = { key: { app_id: 1, updated_at: 1, _id: 1 }, name: "changed" } as const;
