// SPDX-License-Identifier: Apache-2.0
// Sessions of real agents in hostile projects, with `limactl-mcp run` and without.

import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { execute } from '../client.mjs';
import { serverProgram, startInstance } from '../instance.mjs';
import { patience, programs, write } from './agent_specs.mjs';
import { Traps } from './hostile_project.mjs';
import { startModel } from './model_stub.mjs';

/** The user's prompt. */
export const prompt = 'PROMPT-OF-THE-USER';

/** The contents of all files below `directory`, and the targets of its links. */
export function snapshot(directory) {
  const all = new Map();
  for (const name of readdirSync(directory, { recursive: true })) {
    const path = join(directory, name);
    const status = lstatSync(path);
    all.set(name, status.isSymbolicLink() ? readlinkSync(path)
      : status.isFile() ? readFileSync(path, 'latin1') : 'directory');
  }
  return all;
}

/** Calls `use` with an instance with a project, a model and a user who trusts the project. `instance` is the
 *  running one, or the options of startInstance(). */
export async function withScene(spec, instance, use) {
  if (!instance?.project) instance = await startInstance(instance);
  const { project } = instance;
  const root = dirname(project);
  const [home, bin] = ['home', 'bin'].map((name) => join(root, name));
  for (const directory of [home, bin]) mkdirSync(directory);
  const scene = {
    root,
    home,
    bin, // comes first on PATH
    project,
    traps: new Traps(root),
    decide: () => undefined,  // what the model asks for
    /** Runs a program in the project. */
    execute: (program, ...words) => execute(program, words, project, scene.environment, { timeout: patience }),
    mcp: (...words) => scene.execute(serverProgram, ...words),
    /** As after an installation: the limactl on PATH runs the plugin beside it. */
    installLimactl(script = 'exec limactl-mcp "$@"') {
      symlinkSync(serverProgram, join(bin, 'limactl-mcp'));
      write(join(bin, 'limactl'), `#!/bin/sh\nshift\n${script}\n`, 0o755);
    },
  };
  scene.model = await startModel((tools, body) => scene.decide(tools, body));
  scene.environment = {
    PATH: [bin, programs, process.env.PATH].join(delimiter),
    HOME: home,
    TERM: 'dumb',
    LIMA_HOME: instance.limaHome,
    ...spec.environment(scene.model.url),
  };
  spec.prepare(home, project, scene.model.url);
  try {
    return await use(scene);
  } finally {
    await scene.model.stop();
    await instance.stop();
  }
}

/** The results of the model's calls in a request, as [name, result]. */
export function toolResults(body) {
  const { messages = [], contents = [], input = [] } = JSON.parse(body);
  const all = [];
  const names = new Map();
  for (const { functionResponse } of contents.flatMap(({ parts }) => parts)) {
    if (functionResponse) all.push([functionResponse.name, functionResponse.response]);
  }
  for (const item of Array.isArray(input) ? input : []) {
    if (/_call$/.test(item.type)) {
      names.set(item.call_id, item.namespace ? `${item.namespace}__${item.name}` : item.name);
    }
    if (/_call_output$/.test(item.type)) all.push([names.get(item.call_id), item.output]);
  }
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    if (message.role === 'tool') all.push([names.get(message.tool_call_id), message.content]);
    for (const block of Array.isArray(message.content) ? message.content : []) {
      if (block.type === 'tool_use') names.set(block.id, block.name);
      if (block.type === 'tool_result') all.push([names.get(block.tool_use_id), block.content]);
    }
  }
  return all;
}

/** The results in all requests, once each, as [name, text]. */
function results(bodies) {
  const all = new Map();
  for (const [name, result] of bodies.flatMap(toolResults)) {
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    all.set(`${name} ${text}`, [name, text]);
  }
  return [...all.values()];
}

/** Runs one headless session. The model calls a command in the guest, then what the traps offer and the
 *  agent's own tools. Options:
 *  - confined: start the agent by `limactl-mcp run`
 *  - live: set the traps after the command in the guest instead of before the session
 *  - below: the directory of the project in which the agent starts
 *  - silent: the model calls nothing */
export function hostileSession(spec, hostile, { confined, live = false, below = '.', silent = false }) {
  return withScene(spec, {}, async (scene) => {
    const { home, model, project, traps } = scene;
    hostile.prepareHome(home, project, traps);
    if (!live) hostile.plant(project, traps);
    if (confined) hostile.plantFurther?.(project, traps);
    const directory = join(project, below);
    mkdirSync(directory, { recursive: true });
    // What is mounted is the project then, not only the directory.
    if (below !== '.') execFileSync('git', ['init', '-q', project]);
    const readSettings = () =>
      hostile.usersSettings.map((path) => readFileSync(join(home, path), 'utf8'));
    const before = { project: snapshot(project), settings: readSettings() };

    const inGuest = spec.callOf('run_shell_command',
      { command: ['sh', '-c', 'echo "guest of $SSH_CONNECTION"'], directory });
    const calls = hostile.calls(project, traps);
    if (confined) calls.push(...hostile.furtherCalls(project));
    const subagentCalls = hostile.subagentCalls?.(project, traps) ?? [];
    const queue = [inGuest, ...calls];
    const subagentQueue = [...subagentCalls];
    let turns = 0;
    scene.decide = async (tools, body) => {
      if (silent || tools.length === 0) return undefined;  // without tools: for a title, say
      if (!body.includes(prompt)) return subagentQueue.shift();
      if (live && turns++ === 1) {
        hostile.plant(project, traps);
        await sleep(2000);  // an agent may watch its settings
      }
      return queue.shift();
    };
    const [program, ...words] = confined
      ? [serverProgram, 'run', spec.agent, 'default', '--trust', '--', ...hostile.withRun(prompt)]
      : [spec.agent, ...hostile.withoutRun(prompt)];
    const ended = await execute(program, words, directory, scene.environment, { timeout: patience });
    await sleep(500);  // its last hooks may still run

    const bodies = model.turns.map(({ body }) => body);
    const after = snapshot(project);
    return {
      ...ended,
      bodies,
      traps: [...traps.names],
      fired: traps.fired(bodies),
      offered: [...new Set(model.turns.flatMap(({ tools }) => tools))],
      subagents: model.turns.filter(({ tools, body }) => tools.length > 0 && !body.includes(prompt))
        .map(({ body }) => body),
      calls: calls.map(({ name }) => name),
      subagentCalls: subagentCalls.map(({ name }) => name),
      leftOver: queue.map(({ name }) => name),
      results: results(bodies),
      written: [...new Set([...before.project.keys(), ...after.keys()])]
        .filter((name) => before.project.get(name) !== after.get(name)),
      settingsBefore: before.settings,
      settingsAfter: readSettings(),
    };
  });
}
