import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { pause, requestId, requestOf, type WireEvent } from '../wire.js';

/** What a request is on a hosted runtime only: S67 to S69. */
export const hostedRequestRows = (rows: Rows): void => {
  rows.row(
    'S67 hosted: only the offered decisions; no elicitation; a deny reaches the harness',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      const request = await stream.request(0);
      expect(requestOf(request).payload['decisions']).toEqual(['allow', 'deny']);
      expect((await client.respond(request, 'allow_for_session')).error).toMatchObject({
        code: -32022,
        name: 'invalid_argument',
      });
      for (const kind of ['elicitation', 'other']) {
        const response = { kind, request_id: requestId(request), action: 'accept', content: null };
        expect(await client.refused('respond', { response })).toMatchObject({ name: 'unsupported_action' });
      }
      await client.respond(request, 'deny');
      await stream.turnEnd(0, 'hosted');
      const completed = stream.events.find(({ kind }) => kind === 'tool_call_completed');
      expect(completed?.payload['is_error']).toBe(true);
      // The stand-in prints what it was told; its own word for a missing message would be "denied".
      expect(completed?.payload['output']).toMatch(/\w/);
      expect(completed?.payload['output']).not.toBe('denied');
    },
    { only: 'hosted' },
  );

  rows.row(
    'S68 hosted: a pending request survives a reload',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      await stream.request(0);
      await stream.close();
      await pause(600);
      const again = await client.listen();
      const snapshot = await client.attach();
      expect(snapshot.descriptor.turn_state).toBe('busy');
      const pending = snapshot.replay.find(({ kind }) => kind === 'request');
      expect((await client.respond(pending ?? missing(), 'allow')).result).toEqual({ accepted: true });
      expect((await again.turnEnd(0, 'hosted')).kind).toBe('turn_succeeded');
    },
    { only: 'hosted' },
  );

  rows.row(
    'S69 hosted: the owner answers with the native body; the frontend then finds nothing pending',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      const request = await stream.request(0);
      const body = { behavior: 'allow' };
      await peer.owner?.respond(String(requestOf(request).payload['native_request_id']), body);
      await stream.turnEnd(0, 'hosted');
      // It may come behind the end of the turn that it let go on: the harness is told first.
      const resolved = await stream.until('request_resolved');
      expect(resolved.payload).toEqual({ type: 'request_resolved', request_id: requestId(request), response: body });
      expect((await client.respond(request, 'allow')).error).toMatchObject({ code: -32022, name: 'not_found' });
      // The owner ends the harness: one last event. What was connected stays so and is answered, the stream stays
      // open, and nobody else gets in any more (§11).
      const connected = client.onOneConnection();
      expect((await connected.describe()).connection_state).toBe('connected');
      await peer.owner?.close();
      const last = await stream.until('runtime_disconnected');
      expect(last.payload['message']).toMatch(/./);
      expect((await connected.describe()).connection_state).toBe('shutting_down');
      await expect(client.describe()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      expect(stream.hasEnded).toBe(false);
    },
    { only: 'hosted' },
  );
};

const missing = (): WireEvent => {
  throw new Error('no request in the replay');
};
