// The playground: the frame of the page; the rest follows.

import { Plot } from "../ui/plot";
import type { View } from "../ui/view";

export const playground: View = {
  name: "play",
  title: "Playground",
  mount(root) {
    const plot = new Plot({
      label: "The plane",
      x: [-1, 1],
      y: [-1, 1],
      equal: true,
      layers: ["fill", "points"],
      interactive: true,
      xLabel: "x₁",
      yLabel: "x₂",
    });
    const draw = () => {
      const grid = plot.grid(80);
      const f = Float64Array.from({ length: grid.points.length / 2 }, (_, i) => {
        const [x, y] = [grid.points[2 * i], grid.points[2 * i + 1]];
        return 0.5 - x * x - y * y;
      });
      plot.draw(
        "fill",
        plot.region(grid, f, 0, "region class-1"),
        plot.contour(grid, f, 0, "boundary"),
        plot.contour(grid, f, 0.2, "margin"),
      );
      plot.draw(
        "points",
        ...[0, 1, 2, 3, 4].map((k) => plot.glyph(0.2 * k - 0.4, 0, k)),
        plot.ring(0, 0),
      );
    };
    root.append(plot.element);
    plot.onResize(draw);
    draw();
    return () => plot.close();
  },
};
