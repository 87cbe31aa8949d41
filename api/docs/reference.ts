import { html } from '../admin/html.ts'
import { chaptersOf } from '../lib/tags.ts'
import { guides } from './guides.ts'
import { page } from './page.ts'

type Json = Record<string, unknown>
type Operation = Json & { operationId: string; summary: string; tags: string[] }
export type Document = Json & {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Json>
  tags?: { name: string }[]
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation, tag: operation.tags[0] ?? '' })),
  )

/** Every operation with its chapter, to be searched; each leads to its place in the reference of its tag. */
export const indexPage = (document: Document): string => {
  const operations = operationsOf(document)
  const chapters = chaptersOf([...new Set(operations.map(({ tag }) => tag))])
  return page(
    'Pousada: API reference',
    html`<nav>
        <a href="/">Pousada</a> ${guides().map(({ name, title }) => html`<a href="/guides/${name}">${title}</a> `)}
        <a href="/api/openapi.json">OpenAPI document</a>
      </nav>
      <main>
        <h1>API reference</h1>
        <p>
          ${operations.length} operations. Each takes and answers JSON; money is whole minor units, days are YYYY-MM-DD.
        </p>
        <input id="search" type="search" placeholder="Search operations" aria-label="Search operations" />
        <p id="none" hidden>No operation has these words.</p>
        ${chapters.map(
          (chapter) =>
            html`<section>
              <h2>${chapter.name}</h2>
              ${chapter.tags.map(
                (tag) =>
                  html`<section>
                    <h3><a href="/api/docs/${tag.name}">${tag.name}</a></h3>
                    <p>${tag.description}</p>
                    <ul class="operations">
                      ${operations
                        .filter((one) => one.tag === tag.name)
                        .map(
                          ({ path, method, operation }) =>
                            html`<li>
                              <span class="method">${method.toUpperCase()}</span>
                              <span
                                ><a href="/api/docs/${tag.name}#/${tag.name}/${operation.operationId}"
                                  >${operation.summary}</a
                                >
                                <small>${path}</small></span
                              >
                            </li>`,
                        )}
                    </ul>
                  </section>`,
              )}
            </section>`,
        )}
      </main>
      <script src="/api/docs/assets/search.js"></script>`,
  )
}

/** Names of the components that a part of the document refers to, by itself or by others. */
const referred = (part: unknown, components: Document['components']): Set<string> => {
  const found = new Set<string>()
  const look = (value: unknown): void => {
    for (const [, section = '', name = ''] of JSON.stringify(value).matchAll(/"#\/components\/([^/"]+)\/([^"]+)"/g)) {
      const place = `${section}/${name}`
      if (found.has(place)) continue
      found.add(place)
      look(components[section]?.[name])
    }
  }
  look(part)
  return found
}

export const tagsOf = (document: Document): string[] =>
  operationsOf(document).flatMap(({ operation }) => operation.tags)

/** The document of one tag alone, with the components that it needs. */
export const partOf = (document: Document, tag: string): string => {
  const paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) => {
      const own = Object.entries(methods).filter(([, operation]) => operation.tags.includes(tag))
      return own.length === 0 ? [] : [[path, Object.fromEntries(own)]]
    }),
  )
  const needed = referred(paths, document.components)
  const components = Object.fromEntries(
    Object.entries(document.components).map(([section, parts]) => [
      section,
      section === 'securitySchemes'
        ? parts
        : Object.fromEntries(Object.entries(parts).filter(([name]) => needed.has(`${section}/${name}`))),
    ]),
  )
  const tags = document.tags?.filter(({ name }) => name === tag)
  const { webhooks: _told, ...shared } = document
  return JSON.stringify({ ...shared, ...(tags ? { tags } : {}), paths, components })
}

export const tagPage = (tag: string): string =>
  page(
    `Pousada: ${tag}`,
    html`<nav><a href="/">Pousada</a> <a href="/api/docs">All operations</a></nav>
      <div id="docs" data-document="/api/docs/${tag}.json"></div>
      <script src="/api/docs/assets/swagger-ui-bundle.js"></script>
      <script src="/api/docs/assets/start.js"></script>`,
    html`<link rel="stylesheet" href="/api/docs/assets/swagger-ui.css" />`,
  )

/** Opens the library on the document of the page, in the colours that the reader prefers. */
export const startScript = `const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', paint)
paint()
SwaggerUIBundle({ url: document.getElementById('docs').dataset.document, dom_id: '#docs', deepLinking: true, tryItOutEnabled: true,
  validatorUrl: null, docExpansion: 'list', defaultModelsExpandDepth: 0, persistAuthorization: true })
`

/** Hides what does not have all words; the slash key leads to the field. */
export const searchScript = `const field = document.getElementById('search')
const entries = [...document.querySelectorAll('ul.operations li')].map((item) => [item, item.textContent.toLowerCase()])
const search = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean)
  for (const [item, text] of entries) item.hidden = !words.every((word) => text.includes(word))
  for (const section of [...document.querySelectorAll('section')].reverse()) section.hidden = !section.querySelector('li:not([hidden])')
  document.getElementById('none').hidden = entries.some(([item]) => !item.hidden)
}
field.addEventListener('input', search)
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === field) return
  event.preventDefault()
  field.focus()
})
search()
`
