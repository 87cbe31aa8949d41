import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { Html, html } from '../admin/html.ts'
import { page } from './page.ts'

/** The guides stand beside the sources, and beside the folder of a build. */
const folder = [
  new URL('../../docs/integrators/', import.meta.url),
  new URL('../../../docs/integrators/', import.meta.url),
].find((one) => existsSync(one))

const read = (name: string): string => readFileSync(new URL(`${name}.md`, folder), 'utf8')

export type Guide = { name: string; title: string }

const readGuides = (): Guide[] =>
  folder === undefined
    ? []
    : readdirSync(folder)
        .filter((file) => file.endsWith('.md'))
        .map((file) => file.slice(0, -3))
        .toSorted()
        .map((name) => ({ name, title: /^# (.+)$/m.exec(read(name))?.[1] ?? name }))

let known: Guide[] | null = null

/** The guides for integrators, by their names. A build without its docs has none. The files are read once in a process. */
export const guides = (): Guide[] => (known ??= readGuides())

/** A guide as a page. The library that reads Markdown loads with the first one. */
export const guidePage = async ({ name, title }: Guide): Promise<string> => {
  const { marked } = await import('marked')
  const text = read(name)
    // Guides name each other by their files.
    .replace(/\]\((?:\.\/)?([a-z-]+)\.md(#[^)]*)?\)/g, '](/guides/$1$2)')
    .replace(/\]\((\.\.\/[^)]*)\)/g, ']')
  return page(
    title,
    html`<nav><a href="/">Pousada</a> <a href="/api/docs">Reference</a></nav>
      <main>${new Html(await marked.parse(text))}</main>`,
  )
}
