// Real agents, configured by `limactl mcp configure` in a fresh home: their own list shows the server
// connected, and in a whole turn against a stub of their model's endpoint they offer none of their
// own file and shell tools, and run a command in the guest.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { serverProgram, startInstance } from '../instance.mjs';
import { startModel } from './model_stub.mjs';

const programs = process.env.AGENT_PROGRAMS;
if (!programs) throw new Error('set AGENT_PROGRAMS to the directory of the agents');

const ours = ['glob', 'list_directory', 'read_file', 'replace', 'run_shell_command',
  'search_file_content', 'write_file'];

// Agents start slowly, and several at once on a busy machine more so.
const patience = 180_000;

/** Each agent: `prepare` makes the home as a user has it who has logged in and trusts the project;
 *  `own` are its own file and shell tools, `ownWithout` those that it has without configure; `name`
 *  is what it calls a tool of ours; `helper` calls an agent below it. */
const agents = [
  {
    agent: 'claude',
    program: 'claude',
    title: 'Claude Code',
    prepare(home, project) {
      write(join(home, '.claude.json'), JSON.stringify({
        hasCompletedOnboarding: true, projects: { [project]: { hasTrustDialogAccepted: true } },
      }));
    },
    // Else it offers MCP tools only after a search for them.
    environment: (model) => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'stub',
      ENABLE_TOOL_SEARCH: 'false', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
    listed: /^lima: limactl mcp serve default --root \. - . Connected$/m,
    turn: ['-p', 'run it'],
    own: ['Bash', 'Edit', 'EnterWorktree', 'Glob', 'Grep', 'LSP', 'Monitor', 'NotebookEdit',
      'PowerShell', 'Read', 'Write'],
    ownWithout: ['Bash', 'Edit', 'Read', 'Write'],
    name: (tool) => `mcp__lima__${tool}`,
    helper: { name: 'Agent',
      arguments: { subagent_type: 'Explore', description: 'look', prompt: 'look' } },
  },
  {
    agent: 'codex',
    program: 'codex',
    title: 'Codex',
    prepare(home, project, model) {
      write(join(home, '.codex', 'config.toml'), `model = "stub"
model_provider = "stub"
[model_providers.stub]
name = "stub"
base_url = "${model}/v1"
wire_api = "responses"
[projects."${project}"]
trust_level = "trusted"
`);
    },
    environment: () => ({}),
    listed: /^lima +limactl +mcp serve default --root \. .* enabled /m,  // it connects in a turn only
    turn: ['exec', '--skip-git-repo-check', 'run it'],
    own: ['exec_command', 'write_stdin', 'shell', 'shell_command', 'local_shell', 'view_image'],
    ownWithout: ['exec_command', 'view_image'],
    name: (tool) => `mcp__lima__${tool}`,
    call: (tool) => ({ namespace: 'mcp__lima', name: tool }),
  },
  {
    agent: 'gemini',
    program: 'gemini',
    title: 'Gemini CLI',
    prepare(home, project) {
      write(join(home, '.gemini', 'settings.json'),
        '{"security": {"auth": {"selectedType": "gemini-api-key"}}}');
      write(join(home, '.gemini', 'trustedFolders.json'),
        JSON.stringify({ [project]: 'TRUST_FOLDER' }));
    },
    environment: (model) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: 'stub' }),
    listed: /lima: limactl mcp serve default --root \. \(stdio\) - Connected/,
    // Without anybody to ask it would not even offer what it must ask for.
    turn: ['-m', 'gemini-2.5-flash', '--approval-mode=yolo', '-p', 'run it'],
    own: ['glob', 'grep_search', 'list_background_processes', 'list_directory',
      'read_background_output', 'read_file', 'read_many_files', 'replace', 'run_shell_command',
      'search_file_content', 'write_file'],
    ownWithout: ['glob', 'read_file', 'replace', 'run_shell_command', 'write_file'],
    name: (tool) => `mcp_lima_${tool}`,
    helper: { name: 'invoke_agent',
      arguments: { agent_name: 'codebase_investigator', prompt: 'look' } },
  },
  {
    agent: 'opencode',
    program: 'opencode',
    title: 'opencode',
    prepare(home, _project, model) {
      write(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify({
        model: 'stub/stub', autoupdate: false,
        provider: { stub: { npm: '@ai-sdk/openai-compatible', models: { stub: {} },
          options: { baseURL: `${model}/v1`, apiKey: 'stub' } } },
      }));
    },
    environment: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' }),
    listed: /lima .*connected/,
    turn: ['run', 'run it'],
    own: ['apply_patch', 'bash', 'edit', 'glob', 'grep', 'list', 'lsp', 'multiedit', 'patch', 'read',
      'write'],
    ownWithout: ['bash', 'edit', 'glob', 'grep', 'read', 'write'],
    name: (tool) => `lima_${tool}`,
    helper: { name: 'task',
      arguments: { subagent_type: 'explore', description: 'look', prompt: 'look' } },
  },
];

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// Beside each other: most of the time each waits for itself to start.
describe('agents', { concurrency: true }, () => {
  for (const spec of agents) {
    const installed = existsSync(join(programs, spec.program));
    if (!installed) console.log(`SKIPPED tests/clients/agents: ${spec.title}: npm could not install it`);

    describe(spec.title, { concurrency: 1, skip: !installed }, () => {
      let instance;
      let model;
      let ask;  // what the model asks for
      let environment;

      before(async () => {
        instance = await startInstance();
        model = await startModel((tools, body) => ask(tools, body));
        // As after an installation: limactl on the search path runs the plugin beside it.
        const bin = join(dirname(instance.project), 'bin');
        mkdirSync(bin);
        symlinkSync(serverProgram, join(bin, 'limactl-mcp'));
        writeFileSync(join(bin, 'limactl'), '#!/bin/sh\nshift\nexec limactl-mcp "$@"\n', { mode: 0o755 });
        const home = join(dirname(instance.project), 'home');
        mkdirSync(home);
        environment = {
          PATH: [bin, programs, process.env.PATH].join(delimiter),
          HOME: home,
          TERM: 'dumb',
          LIMA_HOME: instance.limaHome,
          ...spec.environment(model.url),
        };
        spec.prepare(home, instance.project, model.url);
      });

      after(async () => {
        await model?.stop();
        await instance?.stop();
      });

      /** Runs a program in the project; returns all that it prints. Its input is empty. */
      function run(program, ...words) {
        return new Promise((resolve, reject) => {
          const child = execFile(program, words,
            { cwd: instance.project, env: environment, timeout: patience },
            (error, stdout, stderr) => {
              // eslint-disable-next-line no-control-regex -- colours
              const text = `${stdout}${stderr}`.replace(/\x1b\[[0-9;]*m/g, '');
              if (error) reject(new Error(`${error.message}\n${text}`));
              else resolve(text);
            });
          child.stdin.end();
        });
      }

      const agent = (...words) => run(join(programs, spec.program), ...words);
      const configure = (...words) => run('limactl', 'mcp', 'configure', spec.agent, ...words);

      /** The tools that a turn offers, its helpers' included. */
      async function offered(decide = () => undefined) {
        model.turns.length = 0;
        ask = decide;
        await agent(...spec.turn);
        return model.turns.flatMap(({ tools }) => tools);
      }

      test('has tools of its own that reach the host, without configure', async () => {
        const tools = await offered();
        for (const tool of spec.ownWithout) assert.ok(tools.includes(tool), `${tool} of ${tools}`);
      });

      test('lists the server as connected', async () => {
        await configure('--trust');
        assert.match(await agent('mcp', 'list'), spec.listed);
      });

      test('offers only tools of the guest, and runs a command there', async () => {
        const command = ['sh', '-c', 'echo "guest of $SSH_CONNECTION" | tee proof'];
        const tools = await offered((names, body) => {
          const name = spec.name('run_shell_command');
          if (!names.includes(name) || body.includes('guest of 127.0.0.1')) return undefined;
          return { name, ...spec.call?.('run_shell_command'),
            arguments: { command, directory: instance.project } };
        });
        for (const tool of ours) assert.ok(tools.includes(spec.name(tool)), `${tool} of ${tools}`);
        for (const tool of spec.own) assert.ok(!tools.includes(tool), `${tool} of ${tools}`);
        assert.ok(existsSync(join(instance.project, 'proof')), 'the command ran');
        assert.ok(model.turns.some(({ body }) => body.includes('guest of 127.0.0.1')),
          'the agent handed the command\'s output, which came by SSH, to its model');
      });

      test('gives the agents that it starts no more than it has', { skip: !spec.helper }, async () => {
        const first = [];
        await offered((names) => {
          if (!names.includes(spec.helper?.name) || first.length > 0) return undefined;
          first.push(names);
          return spec.helper;
        });
        const others = model.turns.map(({ tools }) => tools)
          .filter((tools) => tools.length > 0 && !tools.includes(spec.helper.name));
        assert.notEqual(others.length, 0, 'the helper has had a turn, without helpers of its own');
        for (const tool of spec.own) assert.ok(!others.flat().includes(tool), `${tool} of ${others}`);
      });

      test('is as before after --remove', async () => {
        await configure('--remove');
        const tools = await offered();
        for (const tool of spec.ownWithout) assert.ok(tools.includes(tool), `${tool} of ${tools}`);
        assert.ok(!tools.includes(spec.name('glob')));
      });
    });
  }
});
