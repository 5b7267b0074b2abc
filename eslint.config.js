import ts from 'typescript-eslint';

export default ts.config(
  {
    ignores: [
      'dist/**',
      'coverage/**',
      'node_modules/**',
      'test/peers/**',
      '.cache/**',
      'test/fixtures/**',
      '.extension/**',
      '.stock/**',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: ts.configs.strictTypeChecked,
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // A quarter of the whole time, for what the compiler's own rules leave over.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only: a thing has one name everywhere.' },
      ],
    },
  },
  {
    // Pure rooms: what they know of time, chance and the outside comes in through actions.
    files: ['src/protocol/**', 'src/store/**', 'src/selectors/**'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'fetch', 'setTimeout', 'setInterval', 'performance', 'crypto'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Time enters through actions.' },
        { object: 'Math', property: 'random', message: 'Chance enters through actions.' },
      ],
    },
  },
  { files: ['*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
