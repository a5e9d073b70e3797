// The page "Models".

export function ModelsPage() {
  return <h1>Models</h1>;
}
