// uPlot in a box that follows its width and the theme. Options are made anew only when `id` changes, so ranges must be
// read from the plot's own data, never from values of the drawing that made it.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useCell } from "../cell.ts";
import { theme } from "../theme.ts";
import { useWidth } from "./size.ts";

/** Charts are pictures: what they say stands beside them. The build leaves the code of legend and cursor out. */
const STILL = { legend: { show: false }, cursor: { show: false } } as const;

interface PlotProps {
  /** What the options depend on: another id, other options. */
  readonly id: string;
  readonly data: uPlot.AlignedData;
  readonly height: number;
  /** A sentence that says what the picture shows. */
  readonly label: string;
  /** `css` gives the value of a colour's token, e.g. `--ink-3`. */
  build(css: (token: string) => string): Omit<uPlot.Options, "width" | "height">;
}

export function Plot({ id, data, height, label, build }: PlotProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const colours = useCell(theme);
  useEffect(() => {
    if (width === 0 || host.current === null) return;
    const css = (token: string): string => getComputedStyle(document.documentElement).getPropertyValue(token).trim();
    plot.current = new uPlot({ ...build(css), ...STILL, width, height }, data, host.current);
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [width, height, id, colours]);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <div ref={box} class="plot" role="img" aria-label={label} style={{ minHeight: `${height}px` }}>
      <div ref={host} aria-hidden="true" />
    </div>
  );
}
