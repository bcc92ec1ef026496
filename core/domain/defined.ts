/** The members that are not undefined: what a query or a body leaves out narrows, or changes, nothing. */
export const defined = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>; // sound: as it says

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
