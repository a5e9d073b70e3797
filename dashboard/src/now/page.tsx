// The page "Now".

export function NowPage() {
  return <h1>Now</h1>;
}
