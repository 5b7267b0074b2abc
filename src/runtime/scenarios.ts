import type { Json } from './wire.js';
import type { ScriptedCall, Step } from './script.js';

/** A canned turn, run by the prompt `/demo <name>`. */
export interface Scenario {
  readonly describe: string;
  readonly steps: readonly Step[];
}

const call = (name: string, args: Readonly<Record<string, Json>>, id?: string): ScriptedCall => ({
  name,
  args: JSON.stringify(args),
  ...(id !== undefined && { id }),
});

const FILE = 'supercode-demo.md';
const GREETING = '# A first note\\n\\nHello, world!\\n\\nThis file was made by the demo agent.\\n';

const tour: Scenario = {
  describe: 'streamed text, a command and a file edit that ask for approval, and the diff of the edit',
  steps: [
    {
      text:
        'Welcome! I am a **scripted agent**, so nothing you see here needs an account.\n\n' +
        `First I will run a command that writes a small file, \`${FILE}\`. Commands need your approval, so please have a look and decide.`,
      delay: 12,
      calls: [call('bash', { command: `printf '${GREETING}' > ${FILE} && cat ${FILE}` }, 'demo_tour_command')],
    },
    {
      text: 'Next, an edit. You can see what would change before you allow it.',
      delay: 12,
      calls: [
        call(
          'edit_file',
          { path: FILE, old_string: 'Hello, world!', new_string: 'Hello from your editor!' },
          'demo_tour_edit',
        ),
      ],
      diff: true,
    },
    {
      text:
        'That is the whole loop: text as it is written, tools that wait for you, and the changes they made.\n\n' +
        'Try `/demo question`, `/demo parallel` or `/demo slow` (and press Stop). `/demo` lists them all; anything else you type, I repeat.',
      delay: 12,
    },
  ],
};

const reasoning: Scenario = {
  describe: 'an agent that thinks aloud before it answers',
  steps: [
    {
      reasoning:
        'The person wants to see what reasoning looks like. A small example is best: which of two greetings is shorter? ' +
        '"Hi" has two letters and "Hello" has five, so "Hi" it is.',
      text: 'Hi! That is the shorter of the two greetings I considered; my reasoning is above.',
      delay: 15,
    },
  ],
};

const question: Scenario = {
  describe: 'a form with a choice and a multiple choice',
  steps: [
    {
      text: 'Before I start I need two decisions from you.',
      delay: 12,
      calls: [
        call(
          'ask_user',
          {
            questions: [
              {
                question: 'Which database should the service use?',
                header: 'Database',
                options: [
                  { label: 'SQLite', description: 'one file, nothing to run' },
                  { label: 'PostgreSQL', description: 'a server, for more than one writer' },
                ],
              },
              {
                question: 'Which platforms should it support?',
                header: 'Platforms',
                multiSelect: true,
                options: [{ label: 'Linux' }, { label: 'macOS' }, { label: 'Windows' }],
              },
            ],
          },
          'demo_question',
        ),
      ],
    },
    { text: 'Thank you, that is all I needed to know.', delay: 12 },
  ],
};

const questions: Scenario = {
  describe: 'two forms that wait at the same time',
  steps: [
    {
      text: 'Two of my helpers have a question for you.',
      delay: 12,
      calls: [
        ['colour', 'Which colour should the button have?', ['Red', 'Green']],
        ['size', 'Which size should the button have?', ['Small', 'Large']],
      ].map(([header, question, labels]) =>
        call(
          'ask_user',
          { questions: [{ question, header, options: [labels].flat().map((label) => ({ label })) }] },
          `demo_questions_${String(header)}`,
        ),
      ),
      parallel: true,
    },
    { text: 'Thank you both ways.', delay: 12 },
  ],
};

const parallel: Scenario = {
  describe: 'three commands that run side by side',
  steps: [
    {
      text: 'I will run three commands at once. Each asks for approval.',
      delay: 12,
      calls: ['one', 'two', 'three'].map((word, index) =>
        call('bash', { command: `sleep 0.${3 - index}; echo ${word}` }, `demo_parallel_${word}`),
      ),
      parallel: true,
    },
    { text: 'All three are done.', delay: 12 },
  ],
};

const failure: Scenario = {
  describe: 'a tool that fails, then a model that cannot be reached',
  steps: [
    {
      text: 'I will read a file that does not exist.',
      delay: 12,
      calls: [call('read_file', { path: 'no-such-file.txt' }, 'demo_failure_read')],
    },
    { status: 503, body: { error: { message: 'The demo model is overloaded, as this demo promised.' } } },
  ],
};

const slow: Scenario = {
  describe: 'a long, slow answer to stop or to switch away from',
  steps: [
    {
      text: 'I will count slowly, so that you can press Stop, reload the window, or go elsewhere and come back.\n\n',
      repeat: { n: 300, text: 'item ', pad: 3 },
      delay: 80,
    },
  ],
};

const background: Scenario = {
  describe: 'a job that runs in the background and is polled for its output',
  steps: [
    {
      text: 'I start a job in the background and look at it twice.',
      delay: 12,
      calls: [
        call(
          'background_exec',
          { command: 'for i in 1 2 3 4; do echo "line $i"; sleep 0.3; done' },
          'demo_background_start',
        ),
      ],
      preapproved: true,
    },
    { first: 500, calls: [call('background_status', { job_id: '{{job}}' }, 'demo_background_first')] },
    { first: 1200, calls: [call('background_status', { job_id: '{{job}}' }, 'demo_background_second')] },
    { text: 'The job has ended.', delay: 12 },
  ],
};

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  tour,
  reasoning,
  question,
  questions,
  parallel,
  failure,
  slow,
  background,
};

/** The steps for `/demo` or `/demo <name>`; undefined for any other prompt. */
export const findDemo = (prompt: string): readonly Step[] | undefined => {
  const [command, name] = /^(\/demo)(?:\s+(\S+))?\s*$/.exec(prompt)?.slice(1) ?? [];
  if (command === undefined) return undefined;
  const scenario = name !== undefined && Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
  return scenario?.steps ?? [{ text: listOfDemos() }];
};

const listOfDemos = (): string => {
  const items = Object.entries(SCENARIOS).map(([name, { describe }]) => `- \`/demo ${name}\`: ${describe}`);
  return `These demos are available:\n\n${items.join('\n')}\n`;
};
