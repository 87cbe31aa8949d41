import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
const folders = ['config', 'jobs', 'db', 'api', 'workers', 'scripts']

/** Compiles the service, and what this campaign adds to its workers, into a folder of its own: processes start five times as fast. */
export const build = async (target: string): Promise<void> => {
  mkdirSync(target, { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(target, 'node_modules'))
  writeFileSync(join(target, 'package.json'), JSON.stringify({ type: 'module' }))
  const project = join(target, 'tsconfig.json')
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(checkout, 'tsconfig.build.json'),
      compilerOptions: {
        outDir: target,
        rootDir: checkout,
        noEmitOnError: false,
        typeRoots: [join(checkout, 'node_modules/@types')],
      },
      include: [...folders, 'test/chaos/worker.ts', 'test/chaos/peers.ts'].map((name) => join(checkout, name)),
      exclude: ['rows', 'openapi', 'routes', 'generated', 'schema'].map((name) => join(checkout, `scripts/${name}.ts`)),
    }),
  )
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc')
  const compiling = spawn(process.execPath, [compiler, '-p', project, '--checkers', '1'], {
    cwd: checkout,
    stdio: 'inherit',
  })
  const [status] = (await once(compiling, 'exit')) as [number | null]
  if (status !== 0) throw new Error('the sources do not compile')
  for (const folder of folders)
    cpSync(join(checkout, folder), join(target, folder), {
      recursive: true,
      filter: (file) => statSync(file).isDirectory() || !/\.(ts|md)$/.test(file),
    })
}
