/** What a label says of the text that it stands for. */
export type SecretKind =
  | 'token'
  | 'password'
  | 'private key'
  | 'image'
  | 'port'
  | 'client id'
  | 'credential file'
  | 'workspace'
  | 'home folder'
  | 'user name'
  | 'machine name';

/** `pattern` is global, with indices; each of its named groups is a value, but those whose name begins with `_`. */
export interface Rule {
  readonly kind: SecretKind;
  readonly pattern: RegExp;
  readonly isSecret?: (value: string) => boolean;
}

/** The name of a member or a variable whose value is nobody else's business. */
const SECRET_NAME =
  'passw(?:or)?d|passphrase|passcode|secret|token(?!s|i[sz])|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization';

const secretName = new RegExp(SECRET_NAME, 'i');

export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/**
 * Quoted (in JSON inside of JSON the quotes are escaped; of a cut text the last one is missing) or bare. What is called is
 * no secret but brings one: the lookahead keeps a part of its name from being taken for one.
 */
const VALUE = String.raw`(?:(?<_quote>\\{0,8}["'\x60])(?<quoted>(?:(?!\k<_quote>)[^\n]){1,4096})|(?=(?<bare>[^\s"'\x60\\,;&|<>(){}[\]⟨]{3,4096}))\k<bare>(?!\())`;

const tokens = (...patterns: readonly string[]): readonly Rule[] =>
  patterns.map((pattern) => ({ kind: 'token', pattern: new RegExp(pattern, 'dg') }));

/** What looks like a secret, or names a person or a machine, in any text. */
export const RULES: readonly Rule[] = [
  {
    kind: 'private key',
    pattern:
      /(?<key>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN )[\s\S])*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$))/dg,
  },
  { kind: 'image', pattern: /(?<data>data:image\/[\w.+-]{1,40};base64,[\w+/=-]*)/dg },
  ...tokens(
    // The runtime's own credential, and what of one a cut preview left.
    String.raw`(?<![0-9A-Fa-f])(?<hex>[0-9A-Fa-f]{64,}|[0-9A-Fa-f]{16,63}(?=…))`,
    String.raw`\b[Bb][Ee][Aa][Rr][Ee][Rr][ \t]{1,8}(?<bearer>[\w.~+/=-]{8,})`,
    String.raw`\bBasic[ \t]{1,8}(?<basic>[\w+/=-]{8,})`,
    String.raw`\b(?<sk>sk-[\w-]{8,})`,
    String.raw`\b(?<stripe>(?:sk|rk|pk|whsec)_(?:live_|test_)?\w{10,})`,
    String.raw`\b(?<github>gh[pousr]_\w{16,}|github_pat_\w{16,})`,
    String.raw`\b(?<gitlab>glpat-[\w-]{16,})`,
    String.raw`\b(?<slack>xox[a-z]-[\w-]{8,})`,
    String.raw`\b(?<npm>npm_\w{30,}|hf_\w{30,})`,
    String.raw`\b(?<google>AIza[\w-]{30,}|ya29\.[\w-]{20,})`,
    String.raw`\b(?<aws>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,})`,
    String.raw`\b(?<jwt>eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)`,
  ),
  {
    kind: 'password',
    pattern: new RegExp(
      String.raw`(?:${SECRET_NAME})[\w.-]{0,40}(?:\\{0,8}["'\x60])?[ \t]{0,8}(?:=>|:=|={1,3}|:)[ \t]{0,8}${VALUE}`,
      'dgi',
    ),
    isSecret: isNoExample,
  },
  {
    kind: 'password',
    pattern: new RegExp(String.raw`(?:KEY|PASS|PW)(?:\\{0,8}["'])?[ \t]{0,4}[:=][ \t]{0,4}${VALUE}`, 'dg'),
    isSecret: isNoExample,
  },
  {
    kind: 'password',
    pattern: new RegExp(String.raw`--?(?:${SECRET_NAME})[ \t]{1,8}${VALUE}`, 'dgi'),
    isSecret: isNoExample,
  },
  { kind: 'password', pattern: /:\/\/(?<login>[^\s/@:]{0,256}:[^\s/@]{1,256})@/dg },
  { kind: 'port', pattern: /(?:\b127\.0\.0\.1|\blocalhost|\[::1\]|\b0\.0\.0\.0):(?<port>\d{2,5})(?!\d)/dgi },
  { kind: 'user name', pattern: /(?:[\\/]home|[\\/]Users)[\\/]{1,4}(?<user>[\w.@-]{1,64})/dg },
];

const NO_SECRETS =
  /^(?:string|number|boolean|bool|str|int|any|unknown|never|void|object|null|nil|none|undefined|true|false|required|optional|bearer|basic|[.…*x]+)$/i;
/** The name of a place where a secret is; whoever reads it has not got the secret. */
const REFERENCE = /^(?:\$\{?[A-Z_][A-Z0-9_]*\}?|process\.env[\w.]*|os\.(?:environ|getenv)[\w.]*)$/;

function isNoExample(value: string): boolean {
  return !NO_SECRETS.test(value) && !REFERENCE.test(value);
}
