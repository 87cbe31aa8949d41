# One image for every process: the command says which. See compose.yml and Procfile.
FROM node:20-bookworm-slim AS build
WORKDIR /pousada
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:20-bookworm-slim
WORKDIR /pousada
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=build /pousada/package.json ./
COPY --from=build /pousada/node_modules ./node_modules
COPY --from=build /pousada/dist ./dist
COPY --from=build /pousada/docs/integrators ./docs/integrators
USER node
EXPOSE 3000
CMD ["node", "dist/api/main.js"]
