import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import type { AnyRoute } from '../../api/lib/route.ts'

/**
 * The code that an endpoint may run, read from the sources: declarations at the beginning of a line, and the names that each
 * mentions. A name that is mentioned counts as called, so that more is found than runs, and never less, but for what registers itself.
 */
type Declaration = { file: string; text: string }
type Source = { declarations: Map<string, string>; imports: Map<string, { file: string; name: string }> }

const root = new URL('../../', import.meta.url).pathname
const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
/** Lists of codes alone are declarations, not what throws. */
const lists = /\[(?:\s*(?:\.\.\.\w+|'[a-z_]+')\s*,?)+\s*\]/g
const named = /^(?:export )?(?:const|let|async function|function|class) (\w+)/
const imported = /^(?:import|export) \{([^}]*)\} from '(\.[^']+)'/gm

const sourceOf = (file: string): Source => {
  const text = readFileSync(join(root, file), 'utf8').replace(comments, '').replace(lists, '[]')
  const imports = [...text.matchAll(imported)].flatMap(([, names = '', from = '']) =>
    names.split(',').map((item) => {
      const [name = '', alias = name] = item.trim().split(/ as /)
      return [alias, { file: normalize(join(file, '..', from)), name }] as const
    }),
  )
  const parts = text.split(/^(?=(?:export )?(?:const|let|async function|function|class) )/m)
  const declarations = parts.flatMap((part) => {
    const name = named.exec(part)?.[1]
    return name === undefined ? [] : [[name, part] as const]
  })
  return { declarations: new Map(declarations), imports: new Map(imports) }
}

const sources = new Map<string, Source>()
const read = (file: string): Source => {
  const known = sources.get(file) ?? sourceOf(file)
  sources.set(file, known)
  return known
}

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))

/** Finds the declaration of a name of a file, through the faces that hand it on; null for what is no declaration. */
const declared = (file: string, name: string): (Declaration & { key: string }) | null => {
  const { declarations, imports } = read(file)
  const text = declarations.get(name)
  if (text !== undefined) return { file, text, key: `${file} ${name}` }
  const from = imports.get(name)
  return from ? declared(from.file, from.name) : null
}

/** The values that `db/register.ts` hands to lower modules, by the function that takes them. */
const handed = new Map(
  [...readFileSync(join(root, 'db/register.ts'), 'utf8').matchAll(/\b(register\w+)\((\w+)\)/g)].map(
    ([, register = '', value = '']) => [register, value],
  ),
)

/** The functions called through a variable of a file that `registerModules` sets. */
const throughRegister = ({ file, text }: Declaration): (Declaration & { key: string })[] =>
  [...handed].flatMap(([register, value]) => {
    const variable = /\b(\w+) = \w+$/m.exec(read(file).declarations.get(register) ?? '')?.[1]
    const found =
      variable !== undefined && new RegExp(`\\b${variable}\\(`).test(text) ? declared('db/register.ts', value) : null
    return found ? [found] : []
  })

/** Everything that the declarations mention, and what that mentions in turn. */
const reachedFrom = (begin: readonly Declaration[]): string[] => {
  const seen = new Set<string>()
  const waiting = [...begin]
  const texts: string[] = []
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    texts.push(next.text)
    for (const found of throughRegister(next)) {
      if (seen.has(found.key)) continue
      seen.add(found.key)
      waiting.push(found)
    }
    for (const [word] of next.text.matchAll(/\b[A-Za-z_]\w*\b/g)) {
      const found = declared(next.file, word)
      if (!found || seen.has(found.key)) continue
      seen.add(found.key)
      waiting.push(found)
    }
  }
  return texts
}

const makers: Record<string, string> = { update: 'change', delete: 'remove' }
let edges: Declaration[] | undefined

/** The declarations that hold a route: by its id, or by the maker of its resource. */
const declarationsOf = ({ id, part }: AnyRoute): Declaration[] => {
  edges ??= filesOf('api').flatMap((file) =>
    [...read(file).declarations.values()].map((text): Declaration => ({ file, text })),
  )
  const written = edges.filter(({ text }) => text.includes(`id: '${id}'`))
  if (written.length > 0) return written
  // Routes that a shared piece makes for a module, such as those of attachments, begin with the name that the module gives.
  if (!part) return edges.filter(({ text }) => text.includes(`name: '${id.split('.')[0] ?? ''}'`))
  const { resource, verb } = part
  const homes = new Set(edges.filter(({ text }) => text.includes(`name: '${resource}'`)).map(({ file }) => file))
  const isHome = (file: string) =>
    homes.has(file) || [...read(file).imports.values()].some(({ file: imported }) => homes.has(imported))
  const kebab = verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const call = new RegExp(`\\.(?:${makers[verb] ?? verb}\\(|act\\(\\s*'${kebab}')`)
  return edges.filter(({ file, text }) => isHome(file) && call.test(text))
}

/** The texts of all that an endpoint may run. */
export const textsOf = (route: AnyRoute): string[] => reachedFrom(declarationsOf(route))

/** The texts of every declaration in these folders. */
export const allTexts = (folders: readonly string[]): string[] =>
  folders.flatMap(filesOf).flatMap((file) => [...read(file).declarations.values()])
