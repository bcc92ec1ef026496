/** Black or white, whichever can be read better on a colour such as `#1a2b3c`. Source: WCAG 2.2, relative luminance. */
export const inkOn = (background: string): "#000" | "#fff" => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(background.slice(at, at + 2), 16) / 255),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > brightest ? "#000" : "#fff";
};

const brightest = 0.179; // above that black has the larger contrast

const linear = (part: number): number => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
