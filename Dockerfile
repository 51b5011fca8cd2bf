# The local server of `npm start` in a container, to try Cairn without Node. It is no deployment: docs/guides/deploy.md.
FROM node:24
ENV CAIRN_HOST=0.0.0.0 CAIRN_STATE=/state
WORKDIR /cairn
# The state has the secret, too, so that tokens outlive the container.
RUN mkdir -p "$CAIRN_STATE" && ln -s "$CAIRN_STATE/.dev.vars" .dev.vars && chown -R 1000:1000 . "$CAIRN_STATE"
USER 1000:1000
COPY --chown=1000:1000 . .
RUN npm ci
VOLUME /state
EXPOSE 8787
CMD ["npm", "start"]
