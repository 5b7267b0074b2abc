import { messageOf } from '../protocol/messageOf.js';
import type { Agent } from './agent.js';
import { jsonComplaint } from './arguments.js';
import { describeRuntime } from './descriptor.js';
import { requirePermission, type Client, type Lease } from './lease.js';
import { contextUsage, hasOperation } from './operations.js';
import { invalidParams, parseError, RuntimeRefusal, unknownMethod, unsupportedOperation } from './refusals.js';
import { parseResponse, type RequestBroker } from './requests.js';
import { clampLimit, type Session } from './session.js';
import { toolCount } from './tools.js';
import { isObject, type Json } from './wire.js';

/** Everything a call can reach. */
export interface Runtime {
  readonly session: Session;
  readonly lease: Lease;
  readonly agent: Agent;
  readonly broker: RequestBroker;
  readonly model: { readonly configured: string; current: string };
  readonly isClosing: () => boolean;
  readonly close: () => Promise<void>;
}

type Params = Record<string, unknown>;
type Method = (runtime: Runtime, client: Client, params: Params) => unknown;

const MAX_IMAGES = 4;
const MAX_IMAGE_BYTES = 12 * 1024 * 1024;
const MAX_IMAGES_BYTES = 32 * 1024 * 1024;

const METHODS: Readonly<Record<string, Method>> = {
  describe: (runtime, client) => {
    requirePermission(client, 'observe');
    return describe(runtime, client);
  },
  // The snapshot is taken first and the descriptor last, so it may say busy for a turn whose end is in the replay (§5.2).
  attach: (runtime, client, params) => {
    runtime.lease.observe(client);
    const snapshot = runtime.session.snapshot(params['limit']);
    return { descriptor: describe(runtime, client), ...snapshot };
  },
  send_input: (runtime, client, params) => {
    const prompt = promptOf(params, 'frontend.send_input');
    const images = checkedImages(imagesOf(params, 'frontend.send_input'));
    runtime.lease.claim(client);
    // The turn is the runtime's from here on; how it ends is told by its events.
    runtime.agent.start(prompt, images, -32002).catch(() => undefined);
    return { accepted: true };
  },
  submit: async (runtime, client, params) => {
    const prompt = promptOf(params, 'submit');
    const images = imagesOf(params, 'submit');
    runtime.lease.claim(client);
    return { reply: await runtime.agent.start(prompt, images, -32001) };
  },
  interrupt: (runtime, client) => {
    runtime.lease.claim(client);
    return { interrupted: runtime.agent.interrupt() };
  },
  steer: (runtime, client, params) => {
    const prompt = promptOf(params, 'steer');
    runtime.lease.claim(client);
    runtime.agent.steer(prompt);
    return { queued: true };
  },
  respond: (runtime, client, params) => {
    const response = parseResponse(params['response']);
    runtime.lease.claim(client);
    requirePermission(client, 'approve');
    runtime.broker.respond(response);
    return { accepted: true };
  },
  invoke: (runtime, client, params) => {
    const operation = parseOperation(params['operation']);
    runtime.lease.claim(client);
    return invoke(runtime, operation);
  },
  lease: ({ lease }, client) => lease.read(client),
  acquire_control: ({ lease }, client) => lease.claim(client),
  take_control: ({ lease }, client) => lease.take(client),
  heartbeat: ({ lease }, client) => lease.heartbeat(client),
  detach: ({ lease }, client) => lease.detach(client.id),
  close: async (runtime, client) => {
    requirePermission(client, 'terminate');
    await runtime.close();
    return { closed: true };
  },
};

/** Names from before v2 that are still answered (§4). */
const BARE_NAMES = new Set(['submit', 'interrupt', 'steer', 'respond']);

const LEGACY_METHODS: Readonly<Record<string, Method>> = {
  status: ({ session, agent, model, isClosing }) => ({
    session_id: session.id,
    model: model.configured,
    busy: agent.isBusy,
    shutting_down: isClosing(),
  }),
  history: ({ session }, _client, params) => ({ messages: session.history.slice(-clampLimit(params['limit'])) }),
  shutdown: async (runtime, client) => {
    requirePermission(client, 'terminate');
    await runtime.close();
    return { shutting_down: true };
  },
};

const own = (table: Readonly<Record<string, Method>>, name: string): Method | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const methodNamed = (name: string): Method | undefined => {
  if (name.startsWith('frontend.v2.')) return own(METHODS, name.slice('frontend.v2.'.length));
  if (name.startsWith('frontend.')) {
    const bare = name.slice('frontend.'.length);
    return BARE_NAMES.has(bare) ? undefined : own(METHODS, bare);
  }
  return BARE_NAMES.has(name) ? own(METHODS, name) : own(LEGACY_METHODS, name);
};

/** Answers one request body; never throws. */
export const answer = async (runtime: Runtime, client: Client, body: string): Promise<Record<string, unknown>> => {
  let id: unknown = null;
  try {
    const request = parseRequest(body);
    id = request.id;
    const method = methodNamed(request.method);
    if (method === undefined) throw unknownMethod(request.method);
    return { id, result: await method(runtime, client, request.params) };
  } catch (error) {
    if (error instanceof RuntimeRefusal) return { id, error: error.toWire() };
    return { id, error: { code: -32603, message: messageOf(error) } };
  }
};

const parseRequest = (body: string): { id: unknown; method: string; params: Params } => {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch (error) {
    throw parseError(body === '' ? 'EOF while parsing a value at line 1 column 0' : jsonComplaint(body, error));
  }
  if (!isObject(request)) throw parseError('invalid type, expected struct RpcRequest at line 1 column 0');
  const missing = ['id', 'method'].find((field) => request[field] === undefined);
  if (missing !== undefined) throw parseError(`missing field \`${missing}\` at line 1 column ${body.length}`);
  const { method } = request;
  if (typeof method !== 'string') throw parseError(`invalid type, expected a string at line 1 column ${body.length}`);
  return { id: request['id'], method, params: isObject(request['params']) ? request['params'] : {} };
};

const describe = (runtime: Runtime, client: Client): Json =>
  describeRuntime(
    {
      sessionId: runtime.session.id,
      // The model configured at start: a later switch does not show here (§5.1).
      model: runtime.model.configured,
      isBusy: runtime.agent.isBusy,
      isClosing: runtime.isClosing(),
    },
    client.permissions,
  );

const promptOf = (params: Params, operation: string): string => {
  const prompt = params['prompt'];
  if (typeof prompt !== 'string') throw invalidParams(`${operation} requires a string \`params.prompt\``);
  return prompt;
};

const imagesOf = (params: Params, operation: string): string[] => {
  const urls = params['image_urls'];
  if (urls === undefined) return [];
  if (!Array.isArray(urls)) throw invalidParams(`${operation} requires array \`params.image_urls\``);
  return urls.map((url) => {
    if (typeof url === 'string') return url;
    throw invalidParams(`${operation} requires string entries in \`params.image_urls\``);
  });
};

/** Only `send_input` looks at what the URLs are (§2.3). */
const checkedImages = (urls: string[]): string[] => {
  const operation = 'frontend.send_input';
  if (urls.length > MAX_IMAGES) throw invalidParams(`${operation} accepts at most ${MAX_IMAGES} images`);
  if (!urls.every((url) => /^(data:image\/|https:\/\/|http:\/\/)/.test(url))) {
    throw invalidParams(`${operation} images must be image data URLs or HTTP(S) URLs`);
  }
  if (urls.some((url) => url.length > MAX_IMAGE_BYTES)) {
    throw invalidParams(`${operation} image exceeds the encoded size limit`);
  }
  if (urls.reduce((total, url) => total + url.length, 0) > MAX_IMAGES_BYTES) {
    throw invalidParams(`${operation} images exceed the encoded total size limit`);
  }
  return urls;
};

type Operation =
  | { readonly kind: 'prompt'; readonly id: string; readonly args: string }
  | { readonly kind: 'context'; readonly id: string }
  | { readonly kind: 'model'; readonly id: string; readonly model: string };

const parseOperation = (value: unknown): Operation => {
  if (value === undefined) throw invalidParams('frontend.invoke requires `params.operation`');
  if (isObject(value) && typeof value['operation_id'] === 'string') {
    const id = value['operation_id'];
    const { kind, arguments: args, model } = value;
    if (kind === 'prompt' && typeof args === 'string') return { kind, id, args };
    if (kind === 'context') return { kind, id };
    if (kind === 'model' && typeof model === 'string') return { kind, id, model };
  }
  throw invalidParams('invalid frontend operation');
};

const invoke = async (runtime: Runtime, operation: Operation): Promise<unknown> => {
  if (!hasOperation(operation.kind, operation.id)) throw unsupportedOperation(operation.id);
  const { agent, model, session } = runtime;
  if (operation.kind === 'prompt') {
    const typed = operation.id.replace('prompt:', '/');
    const prompt = operation.args === '' ? typed : `${typed} ${operation.args}`;
    return { kind: 'prompt', reply: await agent.start(prompt, [], -32001) };
  }
  // The agent is the running turn's alone until it has ended (§9).
  await agent.whenIdle();
  if (operation.kind === 'context') {
    return { kind: 'context', usage: contextUsage(model.current, agent.messages, toolCount) };
  }
  const previous = model.current;
  const wanted = operation.model.trim();
  if (wanted !== '' && wanted !== previous) {
    model.current = wanted;
    session.publish({ type: 'model_changed', from: previous, to: wanted, reason: null });
  }
  return { kind: 'model', model: model.current, previous };
};
