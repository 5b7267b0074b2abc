/**
 * The import table of docs/architecture.md, enforced. Each room names what it may import of ours; Node's own
 * modules and the editor are told apart from npm packages, because the pure rooms must run in a browser.
 */
const ROOMS = {
  protocol: [],
  store: ['protocol'],
  selectors: ['store', 'protocol'],
  services: ['protocol'],
  'services/node': ['services', 'protocol'],
  sagas: ['store', 'selectors', 'protocol'],
  runtime: ['protocol'],
  client: ['sagas', 'selectors', 'store', 'protocol', 'services', 'services/node'],
  host: ['client', 'runtime', 'services', 'services/node', 'protocol'],
  vscode: ['sagas', 'selectors', 'store', 'protocol', 'services', 'services/node'],
  cli: ['client', 'runtime', 'sagas', 'selectors', 'store', 'protocol', 'services', 'services/node', 'host'],
};
const PURE = ['protocol', 'store', 'selectors', 'services', 'sagas'];

const folder = (room) => (room === 'services' ? '^src/services/(?!node/)' : `^src/${room}/`);

const rooms = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `room-${room.replace('/', '-')}`,
  severity: 'error',
  comment: `${room} may import ${allowed.join(', ') || 'nothing of ours'}`,
  from: { path: folder(room) },
  to: { path: '^src/', pathNot: [room, ...allowed].map(folder), dependencyTypesNot: ['type-only'] },
}));

module.exports = {
  forbidden: [
    ...rooms,
    {
      name: 'pure-rooms-have-no-node',
      severity: 'error',
      from: { path: PURE.map(folder) },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'types-of-services-only',
      severity: 'error',
      comment: 'sagas reach services through the saga context; only their types are imported',
      from: { path: '^src/(protocol|store|selectors)/' },
      to: { path: '^src/(services|sagas|client|vscode|cli|runtime|host)/' },
    },
    {
      name: 'vscode-only-in-vscode',
      severity: 'error',
      from: { pathNot: '^src/vscode/' },
      to: { path: '^vscode$|/@types/vscode/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      from: { path: '^src/' },
      // The editor brings `vscode`; only its types come from a package.
      to: { dependencyTypes: ['npm-dev'], pathNot: '/@types/vscode/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};
