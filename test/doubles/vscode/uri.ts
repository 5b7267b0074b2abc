import { posix } from 'node:path';
import type * as vscode from 'vscode';

interface Parts {
  readonly scheme?: string;
  readonly authority?: string;
  readonly path?: string;
  readonly query?: string;
  readonly fragment?: string;
}

const SHAPE = /^(([^:/?#]+?):)?(\/\/([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?/s;

/** The editor's own rules: what it encodes, that a drive letter is lower case, that `file` without authority has `//`. */
export class Uri implements vscode.Uri {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;

  private constructor({ scheme = '', authority = '', path = '', query = '', fragment = '' }: Parts) {
    this.scheme = scheme === '' ? 'file' : scheme;
    this.authority = authority;
    this.path = rooted(this.scheme, path);
    this.query = query;
    this.fragment = fragment;
  }

  static parse(value: string, strict = false): Uri {
    const [, , scheme = '', , authority = '', path = '', , query = '', , fragment = ''] = SHAPE.exec(value) ?? [];
    if (strict && scheme === '') throw new Error(`[UriError]: Scheme is missing: {scheme: "", path: "${path}"}`);
    return new Uri({
      scheme,
      authority: decode(authority),
      path: decode(path),
      query: decode(query),
      fragment: decode(fragment),
    });
  }

  static file(path: string): Uri {
    if (!path.startsWith('//')) return new Uri({ scheme: 'file', path });
    const end = path.indexOf('/', 2);
    return end === -1
      ? new Uri({ scheme: 'file', authority: path.slice(2), path: '/' })
      : new Uri({ scheme: 'file', authority: path.slice(2, end), path: path.slice(end) });
  }

  static from(parts: Parts & { readonly scheme: string }): Uri {
    return new Uri(parts);
  }

  static joinPath(base: vscode.Uri, ...segments: string[]): Uri {
    if (base.path === '') throw new Error('[UriError]: cannot call joinPath on URI without path');
    return new Uri({ ...partsOf(base), path: posix.join(base.path, ...segments) });
  }

  get fsPath(): string {
    if (this.authority !== '' && this.path.length > 1 && this.scheme === 'file') {
      return `//${this.authority}${this.path}`;
    }
    return /^\/[A-Za-z]:/.test(this.path) ? this.path.charAt(1).toLowerCase() + this.path.slice(2) : this.path;
  }

  with(change: { readonly [part in keyof Parts]?: string | null }): Uri {
    const kept = Object.entries(change).map(([name, value]) => [name, value ?? ''] as const);
    return new Uri({ ...partsOf(this), ...Object.fromEntries(kept) });
  }

  toString(skipEncoding = false): string {
    const shown = skipEncoding ? encodeLittle : encode;
    const authority = this.authority.toLowerCase();
    const path = this.path.replace(
      /^(\/?)([A-Z]):/,
      (_, slash: string, drive: string) => `${slash + drive.toLowerCase()}:`,
    );
    return [
      `${this.scheme}:`,
      authority === '' && this.scheme !== 'file' ? '' : `//${shown(authority, '[]:@')}`,
      shown(path, '/'),
      this.query === '' ? '' : `?${shown(this.query, '')}`,
      this.fragment === '' ? '' : `#${skipEncoding ? this.fragment : encode(this.fragment, '')}`,
    ].join('');
  }

  toJSON(): object {
    return { $mid: 1, ...partsOf(this), external: this.toString(), fsPath: this.fsPath };
  }
}

function partsOf({ scheme, authority, path, query, fragment }: vscode.Uri): Required<Parts> {
  return { scheme, authority, path, query, fragment };
}

function rooted(scheme: string, path: string): string {
  return ['https', 'http', 'file'].includes(scheme) && !path.startsWith('/') ? `/${path}` : path;
}

function encode(text: string, kept: string): string {
  return text.replace(/[^\w\-.~]/gu, (character) => (kept.includes(character) ? character : percent(character)));
}

function encodeLittle(text: string): string {
  return text.replace(/[#?]/g, percent);
}

function percent(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function decode(text: string): string {
  return text.replace(/(?:%[0-9A-Za-z]{2})+/g, decodeRun);
}

/** As far as it is UTF-8; the rest stays as it was. */
function decodeRun(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run.length > 3 ? run.slice(0, 3) + decodeRun(run.slice(3)) : run;
  }
}
