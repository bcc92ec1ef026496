/** Commands that need nodes, and what runs them there. */
export const onNodes: Record<string, string> = {
  "kind create cluster --name herald": "dev/e2e/clusters.ts",
  "docker build --tag herald:0.1.0 .": "dev/e2e/image.ts",
  "kind load docker-image herald:0.1.0 --name herald": "dev/e2e/clusters.ts",
  "kubectl --namespace herald rollout status deployment --timeout 3m": "test/e2e/install.test.ts",
  "helm test herald --namespace herald --logs": "test/e2e/install.test.ts",
  "kubectl --namespace herald port-forward service/herald-apiserver 8080:80 &": "test/e2e/delivery.test.ts",
  'curl --retry 5 --retry-connrefused --header "Authorization: Bearer $TOKEN" "http://127.0.0.1:8080/v1/notifications?app_id=$APP"':
    "test/e2e/delivery.test.ts",
  "kubectl --namespace herald exec deployment/herald-operator -- node operator.js --keys": "test/e2e/keys.test.ts",
  "kubectl --namespace herald rollout status deployment --selector app.kubernetes.io/part-of=herald --timeout 5m":
    "test/e2e/keys.test.ts",
  "kubectl drain worker-1 --ignore-daemonsets --delete-emptydir-data --timeout=300s": "test/e2e/nodes/drain.test.ts",
  "kubectl --namespace herald port-forward service/herald-mongodb 27017 &": "test/e2e/moving.test.ts",
  "password=$(kubectl --namespace herald get secret herald-bundled-stores --output jsonpath='{.data.password}' | base64 --decode)":
    "test/e2e/moving.test.ts",
  'mongodump --uri "mongodb://herald:$password@127.0.0.1:27017/?directConnection=true" --db herald --gzip --archive=herald.gz':
    "test/e2e/moving.test.ts",
  "kill $!": "test/e2e/moving.test.ts",
  "kubectl --namespace herald rollout status statefulset herald-mongodb --timeout 5m": "test/e2e/moving.test.ts",
  'mongorestore --uri "mongodb://herald:$password@127.0.0.1:27017/?directConnection=true" --gzip --archive=herald.gz':
    "test/e2e/moving.test.ts",
  [`kubectl --namespace herald exec deployment/herald-operator -- node --eval 'fetch("http://127.0.0.1:9090/metrics").then((page) => page.text()).then(console.log)' | grep -E '^herald_consumer_pending.*-(events|callbacks)"'`]:
    "test/e2e/moving.test.ts",
  "kubectl --namespace herald wait pods --selector 'app.kubernetes.io/component in (operator,apiserver,dispatcher)' --for=delete --timeout=120s":
    "test/e2e/moving.test.ts",
  "kubectl --namespace herald rollout status deployment --timeout 5m": "test/e2e/moving.test.ts",
  "kubectl --namespace herald delete pod herald-nats-0": "test/e2e/full-disk.test.ts",
  "kubectl uncordon worker-1": "test/e2e/nodes/drain.test.ts",
};
