// Places for small numbers beside points, so that no two of them overlap.

type Box = [left: number, top: number, right: number, bottom: number];

const LETTER = 6.6; // pixels across, at the size of slack numbers
const HEIGHT = 12;
const ASIDE = 9; // of the number from the middle of its point
const BASELINES = [-7, 16, 4]; // above, below, beside the point

const overlap = (a: Box, b: Box) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/**
 * A function that places numbers one after the other: it takes the pixel of a point and the count
 * of letters, and returns how far to move the text, or null where there is no room left.
 */
export function labelPlaces(): (
  px: number,
  py: number,
  letters: number,
) => [number, number] | null {
  const taken: Box[] = [];
  return (px, py, letters) => {
    const width = LETTER * letters;
    for (const dy of BASELINES) {
      for (const dx of [ASIDE, -ASIDE - width]) {
        const [left, bottom] = [px + dx, py + dy + 2];
        const box: Box = [left, bottom - HEIGHT, left + width, bottom];
        if (taken.some((other) => overlap(box, other))) continue;
        taken.push(box);
        return [dx, dy];
      }
    }
    return null;
  };
}
