// Fits in a worker, for views.

import { ready } from "./fit";
import { type Answer, answerTo, type Reply, type Request } from "./requests";
import { type Data, LabError, type Spec } from "./types";
import wasm from "../../build/core.wasm";
import source from "worker:./worker.ts";

export type { Answer } from "./requests";

/** What solves requests: a worker, or the page itself where workers are forbidden. */
interface Machine {
  ask(request: Request): Promise<Reply>;
}

interface Waiting {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

let machine: Promise<Machine> | undefined; // one for all clients
let number = 0; // of the last request

/**
 * Fits in a worker. The newest request wins: of those that arrive during a fit only the last is
 * solved, and the others are never answered. Answers come in the order of their requests.
 */
export class Client {
  private running: Waiting | undefined;
  private next: Waiting | undefined;

  /** Rejects with LabError where the problem has no solution. */
  fitAndEvaluate(spec: Spec, data: Data, grid: Float64Array): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.next = { request: { number: ++number, spec, data, grid }, resolve, reject };
      if (!this.running) void this.work();
    });
  }

  private async work(): Promise<void> {
    while ((this.running = this.next)) {
      this.next = undefined;
      const { request, resolve, reject } = this.running;
      try {
        const reply = await (await (machine ??= start())).ask(request);
        if ("answer" in reply) resolve(reply.answer);
        else reject(new LabError(reply.problem));
      } catch (error) {
        reject(error as Error);
      }
    }
  }
}

async function start(): Promise<Machine> {
  try {
    return await startWorker();
  } catch {
    await ready();
    return { ask: (request) => Promise.resolve(answerTo(request)) };
  }
}

function startWorker(): Promise<Machine> {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return new Promise((resolve, reject) => {
    const worker = new Worker(address);
    worker.onerror = reject;
    worker.onmessage = () => {
      URL.revokeObjectURL(address);
      resolve(new WorkerMachine(worker));
    };
    worker.postMessage(wasm);
  });
}

class WorkerMachine implements Machine {
  private readonly waiting = new Map<number, (reply: Reply) => void>();

  constructor(private readonly worker: Worker) {
    worker.onmessage = (event: MessageEvent<Reply>) => {
      this.waiting.get(event.data.number)?.(event.data);
      this.waiting.delete(event.data.number);
    };
  }
  ask(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.waiting.set(request.number, resolve);
      this.worker.onerror = (event) => reject(new Error(event.message));
      this.worker.postMessage(request);
    });
  }
}
