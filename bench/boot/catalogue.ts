import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleApi } from '../../scripts/bundle.ts'

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

/** Leads the imports of a file to the copies of their modules. `place`: where the file stood in the service before it was copied. */
const redirected = (text: string, place: string, copied: ReadonlySet<string>, copy: number): string =>
  text
    .replace(/'(\.{1,2}\/[^']+\.js)'/g, (whole, path: string) => {
      const [layer = '', name = '', ...rest] = posix.join(posix.dirname(place), path).split('/')
      if (!copied.has(`${layer}/${name}`)) return whole
      const [own = '', module = '', ...inside] = place.split('/')
      const here = copied.has(`${own}/${module}`) ? [own, `${module}-${copy}`, ...inside] : [own, module, ...inside]
      const found = posix.relative(posix.dirname(here.join('/')), [layer, `${name}-${copy}`, ...rest].join('/'))
      return `'${found.startsWith('.') ? found : `./${found}`}'`
    })
    // A name of a metric may be registered once only.
    .replace(/(new (?:Counter|Gauge|Histogram)\(\{\s*name: ')/g, `$1copy${copy}_`)

/** Copies modules of api and db under another name, with the list of their routes. */
const copyModules = (root: string, copied: ReadonlySet<string>, copy: number): void => {
  for (const module of copied) {
    const target = join(root, `${module}-${copy}`)
    cpSync(join(root, module), target, { recursive: true })
    for (const file of scripts(target))
      edit(file, (text) => redirected(text, `${module}${file.slice(target.length)}`, copied, copy))
  }
  const routes = join(root, 'api', `routes-${copy}.js`)
  cpSync(join(root, 'api/routes-1.js'), routes)
  edit(routes, (text) => redirected(text, 'api/routes.js', copied, copy))
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
 * schemas, handlers and statements of their own. It is sealed and bundled as a build is. The caller removes it.
 */
export const compiledWith = async (count: number, own: number): Promise<{ main: string; remove: () => void }> => {
  const data = join(checkout, '.data')
  mkdirSync(data, { recursive: true })
  const folder = mkdtempSync(join(data, 'boot-'))
  const copies = Math.ceil(count / own)
  cpSync(join(checkout, 'dist'), folder, { recursive: true })
  cpSync(join(folder, 'api/routes.js'), join(folder, 'api/routes-1.js'))
  const modules = new Set(
    ['api', 'db'].flatMap((layer) => modulesOf(join(folder, layer)).map((name) => `${layer}/${name}`)),
  )
  for (let copy = 2; copy <= copies; copy += 1) copyModules(folder, modules, copy)
  writeFileSync(join(folder, 'api/routes.js'), allRoutes(copies, count))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    execFileSync(process.execPath, [join(folder, 'scripts/seal.js')], { stdio: 'inherit' })
    await bundleApi(folder)
  } catch (error) {
    remove()
    throw error
  }
  return { main: join(folder, 'api/main.js'), remove }
}
