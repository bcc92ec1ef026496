import { expect } from "chai";
import { boxAround, distanceM, type Place } from "#core/domain/filters/place.ts";
import { seeded } from "../../../../support/filters/random.ts";

const berlin = { lat: 52.52, long: 13.405 };

describe("places", () => {
  it("are as far from each other as over the surface", () => {
    expect(distanceM(berlin, { lat: 48.8566, long: 2.3522 })).to.be.closeTo(877_460, 500); // Paris
    expect(distanceM({ lat: 90, long: 0 }, { lat: 90, long: 123 })).to.be.closeTo(0, 1e-6);
    expect(distanceM({ lat: 0, long: 179.9 }, { lat: 0, long: -179.9 })).to.be.closeTo(22_239, 1);
    expect(distanceM({ lat: 0, long: 0 }, { lat: 0, long: 180 })).to.be.closeTo(20_015_115, 10);
  });

  it("lie in the box of each circle that they lie in, at the poles and across the antimeridian too", () => {
    const random = seeded(7);
    const aPlace = (): Place => {
      const edge = random() < 0.4;
      return {
        lat: edge ? (random() < 0.5 ? -1 : 1) * (90 - random() ** 2 * 6) : random() * 180 - 90,
        long: edge && random() < 0.5 ? (random() < 0.5 ? -1 : 1) * (180 - random() * 5) : random() * 360 - 180,
      };
    };
    const near = ({ lat, long }: Place): Place => ({
      lat: Math.max(-90, Math.min(90, lat + (random() - 0.5) * 10)),
      long: ((((long + (random() - 0.5) * 40 + 180) % 360) + 360) % 360) - 180,
    });
    let inside = 0;
    for (let n = 0; n < 20_000; n++) {
      const centre = aPlace();
      const circle = { ...centre, radius_m: 1 + random() * 499_999 };
      const place = random() < 0.8 ? near(centre) : aPlace();
      if (distanceM(place, circle) > circle.radius_m) continue;
      inside++;
      const { lat, long } = boxAround(circle);
      const isIn =
        place.lat >= lat[0] &&
        place.lat <= lat[1] &&
        long.some(([low, high]) => place.long >= low && place.long <= high);
      expect(isIn, JSON.stringify({ circle, place })).to.equal(true);
    }
    expect(inside).to.be.above(1_000);
  });

  const boxes: { it: string; centre: Place; expect: number }[] = [
    { it: "one range of longitudes", centre: berlin, expect: 1 },
    { it: "two across the antimeridian to the east", centre: { lat: 0, long: 179.99 }, expect: 2 },
    { it: "two across the antimeridian to the west", centre: { lat: 0, long: -179.99 }, expect: 2 },
    { it: "every longitude at a pole", centre: { lat: -89.99, long: 0 }, expect: 1 },
  ];
  for (const { it: name, centre, expect: ranges } of boxes)
    it(`have around them ${name}`, () => {
      const { long } = boxAround({ ...centre, radius_m: 10_000 });
      expect(long).to.have.length(ranges);
      if (name.startsWith("every")) expect(long).to.deep.equal([[-180, 180]]);
    });
});
