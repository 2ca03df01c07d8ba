// Runs in a worker: fits and evaluates, one request after the other.

import { load } from "./core";
import { answerTo, type Request } from "./requests";

/** First the WebAssembly module, then requests; each is answered by its number. */
self.onmessage = async (event: MessageEvent<BufferSource | Request>) => {
  const message = event.data;
  if ("number" in message) self.postMessage(answerTo(message));
  else await load(message).then(() => self.postMessage("ready"));
};
