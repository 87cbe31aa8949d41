import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
/** Folders that every module shares, and those that a start does not read. */
const shared = new Set(['lib', 'sealing', 'jobs', 'migrations', 'demo'])

const modulesOf = (folder: string): string[] =>
  readdirSync(folder).filter((name) => !shared.has(name) && statSync(join(folder, name)).isDirectory())

const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, 'utf8')))

const scripts = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))

/** Copies every module of api and db under another name, and leads its imports to the copies. */
const copyModules = (root: string, copy: number): void => {
  const modules = { api: modulesOf(join(root, 'api')), db: modulesOf(join(root, 'db')) }
  const names = [...new Set([...modules.api, ...modules.db])].filter((name) => !/-\d+$/.test(name))
  const imported = new RegExp(`'((?:\\.\\.?/)+(?:api/|db/)?)(${names.join('|')})/`, 'g')
  const redirect = (text: string) =>
    text
      .replace(imported, `'$1$2-${copy}/`)
      // A name of a metric may be registered once only.
      .replace(/(new (?:Counter|Gauge|Histogram)\(\{\s*name: ')/g, `$1copy${copy}_`)
  for (const [folder, own] of Object.entries(modules))
    for (const name of own.filter((one) => names.includes(one))) {
      const target = join(root, folder, `${name}-${copy}`)
      cpSync(join(root, folder, name), target, { recursive: true })
      for (const file of scripts(target)) edit(file, redirect)
    }
  const routes = join(root, 'api', `routes-${copy}.js`)
  cpSync(join(root, 'api/routes-1.js'), routes)
  edit(routes, redirect)
}

const allRoutes = (copies: number, count: number): string => `
${Array.from({ length: copies }, (_, at) => `import { routes as routes${at + 1} } from './routes-${at + 1}.js'`).join('\n')}
const moved = (path, copy) => {
  const parts = path.split('/')
  if (parts[2] === 'tenants' && parts.length === 4) parts.push('itself')
  parts[parts[2] === 'tenants' ? 4 : 2] += '-' + copy
  return parts.join('/')
}
const copied = (routes, copy) => routes.map((route) => ({ ...route, id: route.id + copy, path: moved(route.path, copy) }))
export const routes = [
  ...routes1,
${Array.from({ length: copies - 1 }, (_, at) => `  ...copied(routes${at + 2}, ${at + 2}),`).join('\n')}
].slice(0, ${count})
`

/**
 * The compiled service with as many routes as `count`: its own, and copies of all its modules under other names, paths and ids, with
 * schemas, handlers and statements of their own. It is sealed as a build is. The caller removes it.
 */
export const compiledWith = (count: number, own: number): { main: string; remove: () => void } => {
  const data = join(checkout, '.data')
  mkdirSync(data, { recursive: true })
  const folder = mkdtempSync(join(data, 'boot-'))
  const copies = Math.ceil(count / own)
  cpSync(join(checkout, 'dist'), folder, { recursive: true })
  cpSync(join(folder, 'api/routes.js'), join(folder, 'api/routes-1.js'))
  for (let copy = 2; copy <= copies; copy += 1) copyModules(folder, copy)
  writeFileSync(join(folder, 'api/routes.js'), allRoutes(copies, count))
  execFileSync(process.execPath, [join(folder, 'scripts/seal.js')], { stdio: 'inherit' })
  return { main: join(folder, 'api/main.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
