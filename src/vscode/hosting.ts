import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { hostSaga } from '../sagas/host.js';
import { hostFromEnvironment, nodeHostClient } from '../services/node/host.js';
import { watchedChanged } from '../store/host.js';
import { hostSlices } from '../store/hostSlices.js';
import type { Front } from './front.js';

/**
 * Takes in the host that started this editor; false where it left half of what is needed, which is told: the window then
 * does without.
 */
export function joinHost({ app, log }: Front): boolean {
  try {
    const handover = hostFromEnvironment(process.env);
    if (!handover) return false;
    const client = nodeHostClient(handover, {
      log: (line) => {
        log.info(line);
      },
    });
    app.extend('host', hostSlices, hostSaga(client));
    // This is loaded where chats are looked at, or where a runtime or a host was handed over.
    app.dispatch(watchedChanged({ watched: true }));
    return true;
  } catch (error) {
    const message = messageOf(error);
    log.error(message);
    void vscode.window.showErrorMessage(`Volter Harness: ${message}`);
    return false;
  }
}
