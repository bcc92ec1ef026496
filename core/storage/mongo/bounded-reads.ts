import { type Collection, type Db, type Document, MongoServerError } from "mongodb";

/**
 * A database whose reads end on the server after so long, whoever makes them: for what serves requests. Each `find`,
 * `aggregate`, `distinct` and count of its collections says `maxTimeMS` unless it says another. Writes are not bounded:
 * nobody could tell what one that was ended has done. What ran too long is recognised by {@link isOutOfTime}.
 */
export const boundedReads = (db: Db, maxTimeMS: number): Db =>
  derived(db, {
    collection: <Row extends Document>(...named: Parameters<Db["collection"]>) =>
      boundedCollection(db.collection<Row>(...named), maxTimeMS),
  });

/** Whether a read was ended because it took longer than it may. Source: MongoDB's error codes, 50 MaxTimeMSExpired. */
export const isOutOfTime = (error: unknown): boolean => error instanceof MongoServerError && error.code === 50;

/** `findOne` and `countDocuments` of the driver are made of these. */
const boundedCollection = <Row extends Document>(rows: Collection<Row>, maxTimeMS: number): Collection<Row> =>
  derived(rows, {
    find: (filter = {}, options = {}) => rows.find(filter, { maxTimeMS, ...options }),
    aggregate: (pipeline = [], options = {}) => rows.aggregate(pipeline, { maxTimeMS, ...options }),
    distinct: (key: string, filter = {}, options = {}) => rows.distinct(key, filter, { maxTimeMS, ...options }),
    estimatedDocumentCount: (options = {}) => rows.estimatedDocumentCount({ maxTimeMS, ...options }),
  });

/** An object that has everything of another, but some of its own. */
const derived = <T extends object>(from: T, own: Partial<T>): T => Object.assign(Object.create(from) as T, own);
