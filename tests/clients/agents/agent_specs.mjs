// SPDX-License-Identifier: Apache-2.0
// The real agents: how each connects to a stub of its model, and the names of its tools.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The directory of the agents' programs. */
export const programs = process.env.AGENT_PROGRAMS;
if (!programs) throw new Error('set AGENT_PROGRAMS to the directory of the agents');

/** The tools of the guest. */
export const ours = ['glob', 'list_directory', 'read_file', 'read_process', 'replace',
  'run_shell_command', 'search_file_content', 'start_process', 'write_file', 'write_process'];

/** Agents start slowly, especially several at once on a busy machine. */
export const patience = 180_000;

/** Each agent, by the name of its program: `prepare` makes the home of a user who has logged in and trusts the project. `own` are
 *  its own file and shell tools, `ownWithout` those that it has without configure. `name` returns its
 *  name for a tool of ours, `goOn` the arguments with which a session goes on. `helper` calls a
 *  subagent. `trust` changes settings so that it does not ask before it calls a tool of ours, `trustWords`
 *  do for a session. `misses` names what the model does not see of results. With `deferring` in its environment
 *  and with `models`, it may hide tools. */
export const agents = [
  {
    agent: 'claude',
    title: 'Claude Code',
    prepare(home, project) {
      write(join(home, '.claude.json'),
        { hasCompletedOnboarding: true, projects: { [project]: { hasTrustDialogAccepted: true } },
          customApiKeyResponses: { approved: ['stub'] } });  // a terminal's question
    },
    // Otherwise it offers MCP tools of other servers only after a search for them.
    environment: (model) => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'stub',
      ENABLE_TOOL_SEARCH: 'false', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
    deferring: { ENABLE_TOOL_SEARCH: 'true' },  // hides tools behind a search
    listed: /^lima: limactl mcp serve default --root \. - . Connected$/m,
    turn: ['-p', 'run it'],
    trustWords: ['--allowedTools=mcp__lima'],
    own: ['Bash', 'Edit', 'EnterWorktree', 'Glob', 'Grep', 'LSP', 'Monitor', 'NotebookEdit',
      'PowerShell', 'Read', 'Write'],
    ownWithout: ['Bash', 'Edit', 'Read', 'Write'],
    name: (tool) => `mcp__lima__${tool}`,
    goOn: (words) => ['--continue', ...words],
    helper: { name: 'Agent',
      arguments: { subagent_type: 'Explore', description: 'look', prompt: 'look' } },
  },
  {
    agent: 'codex',
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
    turnWithRun: ['exec', 'run it'],
    trust: (lines) => `${lines}\ndefault_tools_approval_mode = "approve"`,
    models: ['gpt-5.5', 'gpt-6-astra'],  // they can hide tools; the second writes code
    own: ['exec_command', 'write_stdin', 'shell', 'shell_command', 'local_shell', 'view_image'],
    ownWithout: ['exec_command', 'view_image'],
    name: (tool) => `mcp__lima__${tool}`,
    call: (tool) => ({ namespace: 'mcp__lima', name: tool }),
  },
  {
    agent: 'copilot',
    title: 'Copilot CLI',
    prepare(home, project) {
      write(join(home, '.copilot', 'config.json'), { trustedFolders: [project] });
    },
    environment: (model) => ({ COPILOT_PROVIDER_BASE_URL: `${model}/v1`, COPILOT_MODEL: 'stub',
      COPILOT_AUTO_UPDATE: 'false' }),
    listed: /^ *lima \(local\)/m,  // it connects in a turn only
    turn: ['-s', '-p', 'run it'],
    trustWords: ['--allow-tool=lima'],
    own: ['apply_patch', 'bash', 'create', 'edit', 'glob', 'grep', 'lsp', 'view'],
    ownWithout: ['bash', 'create', 'edit', 'glob', 'grep', 'view'],
    name: (tool) => `lima-${tool}`,
    goOn: (words) => ['--continue', ...words],
    misses: ['an image'],
  },
  {
    agent: 'gemini',
    title: 'Gemini CLI',
    prepare(home, project) {
      write(join(home, '.gemini', 'settings.json'), { security: { auth: { selectedType: 'gemini-api-key' } } });
      write(join(home, '.gemini', 'trustedFolders.json'), { [project]: 'TRUST_FOLDER' });
    },
    environment: (model) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: 'stub' }),
    listed: /lima: limactl mcp serve default --root \. \(stdio\) - Connected/,
    // Headless, it does not offer tools that need a confirmation.
    turn: ['-m', 'gemini-2.5-flash', '--approval-mode=yolo', '-p', 'run it'],
    trust({ tools }) {
      tools.core.push(...ours.map(this.name));
      tools.confirmationRequired = [];
    },
    turnWithRun: ['-m', 'gemini-2.5-flash', '-p', 'run it'],
    inTerminal: ['-m', 'gemini-2.5-flash'],
    own: ['glob', 'grep_search', 'list_background_processes', 'list_directory',
      'read_background_output', 'read_file', 'read_many_files', 'replace', 'run_shell_command',
      'search_file_content', 'write_file'],
    ownWithout: ['glob', 'read_file', 'replace', 'run_shell_command', 'write_file'],
    name: (tool) => `mcp_lima_${tool}`,
    helper: { name: 'invoke_agent',
      arguments: { agent_name: 'generalist', prompt: 'look' } },
  },
  {
    agent: 'opencode',
    title: 'opencode',
    prepare(home, _project, model) {
      const stub = { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } };
      write(join(home, '.config', 'opencode', 'opencode.json'), {
        model: 'stub/stub', autoupdate: false,
        // Rules of the user's own, where the last one that matches counts.
        permission: { '*': 'allow', bash: 'allow', 'b*': 'allow' },
        provider: { stub: { npm: '@ai-sdk/openai-compatible', models: { stub },
          options: { baseURL: `${model}/v1`, apiKey: 'stub' } } },
      });
    },
    environment: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' }),
    listed: /lima .*connected/,
    turn: ['run', 'run it'],
    trust({ permission }) {
      permission['lima_**'] = 'allow';
    },
    own: ['apply_patch', 'bash', 'edit', 'glob', 'grep', 'list', 'lsp', 'multiedit', 'patch', 'read',
      'write'],
    ownWithout: ['bash', 'edit', 'glob', 'grep', 'read', 'write'],
    name: (tool) => `lima_${tool}`,
    goOn: ([run, ...words]) => [run, '--continue', ...words],
    helper: { name: 'task',
      arguments: { subagent_type: 'explore', description: 'look', prompt: 'look' } },
  },
];
for (const spec of agents) {
  spec.skip = !existsSync(join(programs, spec.agent));
  spec.turnWithRun ??= spec.turn;
  /** The model's call of a tool of ours. */
  spec.callOf = (tool, args) => ({ name: spec.name(tool), ...spec.call?.(tool), arguments: args });
}

/** Objects with the members of both; of lists, `b`'s. */
function merged(a, b) {
  if (Array.isArray(b) || typeof a !== 'object' || typeof b !== 'object') return b;
  return Object.fromEntries([...new Set([...Object.keys(a), ...Object.keys(b)])]
    .map((key) => [key, key in a && key in b ? merged(a[key], b[key]) : (b[key] ?? a[key])]));
}

/** Does in the project what `configure` prints. `run` runs a program there. Also lets the agent call our
 *  tools unasked. Returns with what to start the agent. */
export async function followSteps(spec, printed, project, run) {
  const start = { environment: {}, words: spec.trustWords ?? [] };
  for (const step of printed.replace(/\n(Note|Safer): [^]*$/, '').split(/^\d+\. /m).slice(1)) {
    const [text, lines] = step.split(/\n\n([^]*)/).map((part) => part.trim());
    const file = /Add to ([^ ,]+?)[,:]/.exec(text)?.[1];
    if (/Run in the project:$/.test(text)) await run('sh', '-c', lines);
    if (/Start it with:$/.test(text)) {
      const [, name, value, flags] = /^(\w+)=(\w+) \w+ (.*)$/.exec(lines);
      start.environment[name] = value;
      start.words = [...flags.split(' '), ...start.words];
    }
    if (!file) continue;
    const path = join(project, file);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (!file.endsWith('.json')) {
      write(path, `${before}${spec.trust(lines)}\n`);
    } else {
      const settings = JSON.parse(lines);
      spec.trust?.(settings);
      write(path, merged(JSON.parse(before || '{}'), settings));
    }
  }
  return start;
}

/** Prints a table, for people. */
export function printTable(heading, rows) {
  for (const cells of [heading, heading.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
}

/** Writes a file and its directories; an object as JSON. */
export function write(path, content, mode) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2), { mode });
}
