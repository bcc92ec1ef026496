/** A point on the earth, in degrees. */
export type Place = { lat: number; long: number };

/** The points that are at most so many metres away from another. */
export type Circle = Place & { radius_m: number };

/** The radius of the sphere that distances are measured on: the earth's mean one, IUGG. */
const earthM = 6_371_008.8;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const degrees = (angle: number): number => (angle * 180) / Math.PI;

/** What is stored as a place; null for anything else. */
export const placeOf = (value: unknown): Place | null => {
  if (typeof value !== "object" || value === null) return null;
  const { lat, long } = value as Partial<Record<keyof Place, unknown>>; // sound: members of an object
  const isPlace = isWithin(lat, -90, 90) && isWithin(long, -180, 180);
  return isPlace ? { lat, long } : null;
};

const isWithin = (value: unknown, low: number, high: number): value is number =>
  typeof value === "number" && value >= low && value <= high;

/** The distance of two places over the surface, by the haversine formula. */
export const distanceM = (a: Place, b: Place): number => {
  const [dLat, dLong] = [radians(b.lat - a.lat), radians(b.long - a.long)];
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(dLong / 2) ** 2;
  return 2 * earthM * Math.asin(Math.min(1, Math.sqrt(h)));
};

/** Degrees of latitude and longitude that the points of a circle lie between; `long` has two ranges across the antimeridian. */
export type Box = { lat: [low: number, high: number]; long: [low: number, high: number][] };

const margin = 1e-6; // degrees, 11 cm: what rounding may cost

/** A box around a circle. One that reaches a pole has every longitude. */
export const boxAround = ({ lat, long, radius_m: radiusM }: Circle): Box => {
  const angle = radiusM / earthM;
  const dLat = degrees(angle) + margin;
  const [low, high] = [lat - dLat, lat + dLat];
  const widest = Math.sin(angle) / Math.cos(radians(lat));
  if (low <= -90 || high >= 90 || widest >= 1) return { lat: [low, high], long: [[-180, 180]] };
  const dLong = degrees(Math.asin(widest)) + margin;
  const [west, east] = [long - dLong, long + dLong];
  if (west < -180)
    return {
      lat: [low, high],
      long: [
        [-180, east],
        [west + 360, 180],
      ],
    };
  if (east > 180)
    return {
      lat: [low, high],
      long: [
        [west, 180],
        [-180, east - 360],
      ],
    };
  return { lat: [low, high], long: [[west, east]] };
};
