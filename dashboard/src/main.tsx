// Where the page begins: styles, the live connection, the first drawing.

import { render } from "preact";
import "./theme.css";
import "./frame.css";
import "./parts/parts.css";
import { App } from "./app.tsx";
import { startLive } from "./live/stream.ts";

const host = document.getElementById("app");
if (host !== null) render(<App />, host);
startLive();
