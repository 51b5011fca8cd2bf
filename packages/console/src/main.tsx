import { render } from "preact";
import { App } from "./shell/app.tsx";
import "uplot/dist/uPlot.min.css";
import "./style.css";

const place = document.getElementById("console");
if (place !== null) render(<App />, place);
