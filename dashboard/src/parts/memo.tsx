// A component that is drawn again only when one of its properties is another value.

import { Component, type ComponentChildren } from "preact";

export function memo<Props extends object>(draw: (props: Props) => ComponentChildren) {
  const Draw = draw;
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const keys = new Set([...Object.keys(this.props), ...Object.keys(next)]) as Set<keyof Props>;
      return [...keys].some((key) => !Object.is(this.props[key], next[key]));
    }

    override render() {
      return <Draw {...this.props} />;
    }
  };
}
