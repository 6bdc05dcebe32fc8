// Real agents, configured by `limactl mcp configure` in a fresh home. Their own list shows the server
// connected. In a whole turn against a stub of their model's endpoint, they offer none of their own file
// and shell tools, and run a command in the guest.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { serverProgram, startInstance } from '../instance.mjs';
import { agents, followSteps, ours, patience, programs } from './agent_specs.mjs';
import { startModel } from './model_stub.mjs';

// In parallel: most of the time each agent is still starting.
describe('agents', { concurrency: true }, () => {
  for (const spec of agents) {
    const installed = existsSync(join(programs, spec.program));
    if (!installed) console.log(`SKIPPED tests/clients/agents: ${spec.title}: npm could not install it`);

    describe(spec.title, { concurrency: 1, skip: !installed }, () => {
      let instance;
      let model;
      let ask;  // what the model asks for
      let environment;
      let flags = [];  // which configure has told

      before(async () => {
        instance = await startInstance();
        model = await startModel((tools, body) => ask(tools, body));
        // As after an installation: the limactl on PATH runs the plugin beside it.
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

      /** Runs a program in the project with empty input; returns its output. */
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
      const configure = async (...words) => {
        const printed = await run('limactl', 'mcp', 'configure', spec.agent, 'default', ...words);
        const start = await followSteps(printed, run);
        Object.assign(environment, start.environment);
        flags = start.words;
      };

      /** The tools that a turn offers, subagents included. */
      async function offered(decide = () => undefined) {
        model.turns.length = 0;
        ask = decide;
        await agent(...flags, ...spec.turn);
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
