// The sandbox's pictures: four scenes of how salt comes into the sea, each a fragment shader. A pixel is a pure function
// of place and time, so every run draws the same frames. Loaded by a browser, which draws them with WebGL.

/** Noise, and light through air, for all scenes. `size` is the canvas, `time` the seconds since the scene began. */
const COMMON = `#version 300 es
precision highp float;
uniform vec2 size;
uniform float time;
out vec4 pixel;

float hash(vec2 p) {
  p = fract(p * vec2(123.34, 456.21));
  p += dot(p, p + 45.32);
  return fract(p.x * p.y);
}
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  vec2 e = vec2(1, 0);
  return mix(mix(hash(i), hash(i + e), f.x), mix(hash(i + e.yx), hash(i + 1.0), f.x), f.y);
}
float noise(vec3 p) {
  float layer = floor(p.z), f = fract(p.z);
  vec2 shift = vec2(37.2, 17.7);
  return mix(noise(p.xy + layer * shift), noise(p.xy + (layer + 1.0) * shift), f * f * (3.0 - 2.0 * f));
}
const mat2 TURN = mat2(1.6, 1.2, -1.2, 1.6);
float fbm(vec2 p, int octaves) {
  float sum = 0.0, weight = 0.5;
  for (int i = 0; i < octaves; i++, weight *= 0.5, p = TURN * p) sum += weight * noise(p);
  return sum;
}
/** The view from \`eye\` to \`target\`; \`zoom\` is the focal length. */
vec3 rayTo(vec3 eye, vec3 target, float zoom) {
  vec2 uv = (2.0 * gl_FragCoord.xy - size) / size.x;
  vec3 front = normalize(target - eye);
  vec3 right = normalize(cross(front, vec3(0, 1, 0)));
  return normalize(front * zoom + right * uv.x + cross(right, front) * uv.y);
}
/** Film-like contrast, and corners that are a little darker. */
void finish(vec3 light) {
  vec2 uv = gl_FragCoord.xy / size - 0.5;
  light *= 1.0 - 0.55 * dot(uv, uv);
  light = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14);
  pixel = vec4(pow(clamp(light, 0.0, 1.0), vec3(1.0 / 2.2)), 1);
}
`;

/** A clear mountain river over pale stones, first light. */
const RIVER = `
const vec3 SUN = normalize(vec3(0.12, 0.2, 1.0));

float bank(vec2 p) { return abs(p.x - 0.9 * sin(p.y * 0.21) - 0.3 * sin(p.y * 0.57)) - 1.25; }
float ground(vec2 p) {
  float d = bank(p);
  float slope = max(d, 0.0);
  float hills = slope * (0.1 + 0.75 * fbm(p * 0.42, 4)) + 0.035 * slope * slope;
  float trees = 0.55 * smoothstep(0.4, 1.4, d) * pow(noise(p * 5.5), 2.0);
  return -0.22 + 0.3 * smoothstep(-0.5, 0.35, d) + hills + trees;
}
vec3 sky(vec3 ray) {
  float sun = max(dot(ray, SUN), 0.0);
  vec3 light = mix(vec3(0.85, 0.5, 0.3), vec3(0.12, 0.26, 0.52), smoothstep(-0.02, 0.5, ray.y));
  float cloud = smoothstep(0.45, 0.8, fbm(ray.xz / (ray.y + 0.25) * 1.3 + 3.0, 4));
  light = mix(light, vec3(0.95, 0.6, 0.48), 0.55 * cloud);
  return light + vec3(1.0, 0.6, 0.3) * (0.7 * pow(sun, 12.0) + 2.5 * pow(sun, 400.0));
}
/** Pale stones of the bed: rounded, of many sizes, in shadow where they touch. */
vec3 cobbles(vec2 p) {
  p += 0.35 * vec2(noise(p * 0.9), noise(p * 0.9 + 5.0));
  vec2 cell = floor(p), inside = fract(p);
  float top = 0.0, id = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) {
      vec2 corner = vec2(x, y);
      float own = hash(cell + corner + 3.1);
      vec2 at = corner + 0.5 + 0.5 * (vec2(hash(cell + corner), hash(cell + corner + 7.3)) - 0.5) - inside;
      at *= mat2(1.0, 0.35 * (own - 0.5), 0.35 * (own - 0.5), 1.0 + 0.5 * own);
      float height = (0.45 + 0.35 * own) * sqrt(max(1.0 - dot(at, at) / (0.2 + 0.28 * own), 0.0));
      if (height > top) { top = height; id = own; }
    }
  vec3 tone = mix(vec3(0.42, 0.4, 0.37), vec3(0.86, 0.8, 0.7), fract(id * 7.0));
  tone = mix(tone, vec3(0.55, 0.42, 0.34), step(0.8, fract(id * 13.0)));
  return tone * (0.22 + 0.95 * smoothstep(0.0, 0.62, top));
}
vec3 stones(vec2 p) { return mix(cobbles(p), cobbles(p * 2.3 + 4.0), smoothstep(0.42, 0.58, noise(p * 0.35))); }
float march(vec3 from, vec3 ray, float far, int steps) {
  float t = 0.1;
  for (int i = 0; i < steps && t < far; i++) {
    float above = from.y + ray.y * t - ground(from.xz + ray.xz * t);
    if (above < 0.004 * t) return t;
    t += max(above * 0.45, 0.01 * t);
  }
  return far;
}
vec3 land(vec3 at, vec3 ray, float t) {
  vec2 e = vec2(0.012 * (1.0 + t * 0.3), 0);
  float h = ground(at.xz);
  vec3 normal = normalize(vec3(h - ground(at.xz + e), e.x, h - ground(at.xz + e.yx)));
  float d = bank(at.xz);
  vec3 forest = mix(vec3(0.012, 0.04, 0.028), vec3(0.07, 0.1, 0.035), noise(at.xz * 3.0));
  vec3 ground = mix(stones(at.xz * 5.5) * 0.55, forest, smoothstep(0.35, 0.95, d + 0.5 * noise(at.xz * 2.0)));
  float light = max(dot(normal, SUN), 0.0);
  vec3 lit = ground * (vec3(1.7, 1.0, 0.55) * light * 2.4 + vec3(0.26, 0.34, 0.5) * (0.6 + 0.4 * normal.y));
  float haze = 1.0 - exp(-0.0042 * t * t);
  return mix(lit, sky(normalize(vec3(ray.x, 0.06, ray.z))) * 0.92, haze);
}
void main() {
  float z = 1.05 * time;
  vec3 eye = vec3(0.9 * sin(z * 0.21) + 0.3 * sin(z * 0.57), 0.5 + 0.07 * time, z);
  float ahead = z + 6.0;
  vec3 ray = rayTo(eye, vec3(0.75 * sin(ahead * 0.21), 0.62 + 0.05 * time, ahead), 1.15);
  float t = march(eye, ray, 34.0, 110);
  float toWater = ray.y < 0.0 ? -eye.y / ray.y : 99.0;
  vec3 light = t < 34.0 ? land(eye + ray * t, ray, t) : sky(ray);
  if (toWater < t) {
    vec3 at = eye + ray * toWater;
    float calm = 1.0 / (1.0 + 0.25 * toWater);
    vec2 flow = at.xz * vec2(3.2, 1.7) + vec2(0, -1.6 * time);
    vec2 ripple = vec2(fbm(flow, 3) - fbm(flow + vec2(0.3, 0), 3), fbm(flow, 3) - fbm(flow + vec2(0, 0.3), 3));
    vec3 normal = normalize(vec3(ripple.x, 1.6 / calm * 0.5, ripple.y));
    vec3 mirrored = reflect(ray, normal);
    mirrored.y = abs(mirrored.y);
    float r = march(at + vec3(0, 0.01, 0), mirrored, 14.0, 26);
    vec3 reflection = r < 14.0 ? land(at + mirrored * r, mirrored, toWater + r) : sky(mirrored);
    float depth = clamp(-ground(at.xz), 0.02, 0.25);
    vec2 bed = at.xz + ray.xz / max(-ray.y, 0.25) * depth + ripple * 0.35;
    vec3 below = stones(bed * 4.6) * mix(vec3(0.75, 0.85, 0.75), vec3(0.06, 0.36, 0.36), depth * 3.9);
    below += 0.35 * pow(fbm(bed * 6.0 + ripple * 3.0 + time * 0.4, 3), 3.0) * vec3(1.0, 0.85, 0.6);
    float fresnel = 0.03 + 0.97 * pow(1.0 - max(dot(-ray, normal), 0.0), 4.0);
    light = mix(below * 0.75, reflection, fresnel);
    light += vec3(1.0, 0.7, 0.4) * 1.6 * pow(max(dot(mirrored, SUN), 0.0), 160.0);
    light = mix(light, sky(normalize(vec3(ray.x, 0.06, ray.z))) * 0.92, 1.0 - exp(-0.0042 * toWater * toWater));
  }
  finish(light);
}
`;

/** Rain in threads down a dark cliff, close. */
const RAIN = `
const vec3 LIGHT = normalize(vec3(-0.85, 0.55, -0.6));

/** How far the rock stands out towards the camera, which looks along z. */
float rock(vec2 p) {
  vec2 bent = p + 0.3 * vec2(fbm(p * 0.8 + 9.0, 3), fbm(p * 0.8 + 2.0, 3));
  float layers = bent.y * 1.15 + 0.25 * bent.x;
  float ledges = 0.3 * hash(vec2(floor(layers), 1.0)) + 0.16 * smoothstep(0.0, 0.8, fract(layers));
  float blocks = 0.22 * noise(vec2(bent.x * 1.7 + 5.0 * hash(vec2(floor(layers), 4.0)), floor(layers)));
  float edge = 3.0 * smoothstep(-0.35, -1.5, p.x + 0.7 * fbm(p * vec2(0.6, 1.1), 4));
  return 0.55 * fbm(p * 1.1 + 11.0, 6) + ledges + blocks + 0.3 * p.x - edge;
}
/** A narrow stream that clings to the rock. */
float stream(vec2 p) {
  float x = p.x + 0.3 * noise(vec2(p.y * 0.7, 2.0)) + 0.05 * noise(vec2(p.y * 5.0, 8.0));
  float lane = noise(vec2(x * 6.5, 5.0 + 0.12 * p.y));
  float threads = smoothstep(0.7, 0.86, lane);
  return threads * (0.15 + 0.85 * pow(noise(vec2(x * 30.0, p.y * 2.6 + time * 4.2)), 1.5));
}
/** Falling drops, as a sheet at this distance. */
float drops(vec2 uv, float scale, float speed, float seed) {
  uv = uv * vec2(scale, scale * 0.13) + vec2(0.1 * scale * uv.y, time * speed);
  uv.y += 7.0 * hash(vec2(floor(uv.x), seed));
  float chance = step(0.72, hash(floor(uv) + seed));
  vec2 inside = fract(uv);
  return chance * smoothstep(0.5, 0.38, abs(inside.x - 0.5) * 4.0) * smoothstep(0.0, 0.5, inside.y) * smoothstep(1.0, 0.6, inside.y);
}
void main() {
  vec3 eye = vec3(-0.25 + 0.05 * time, 1.9 - 0.3 * time, -2.5 + 0.05 * time);
  vec3 ray = rayTo(eye, eye + vec3(-0.16, -0.1 + 0.03 * time, 1.0), 1.35);
  vec2 uv = gl_FragCoord.xy / size.x;
  // Beyond the edge: ridges in the rain, paler the farther they are.
  vec3 light = mix(vec3(0.12, 0.17, 0.2), vec3(0.33, 0.37, 0.39) + 0.12 * fbm(ray.xy * 3.0 + 0.05 * time, 3), smoothstep(-0.35, 0.4, ray.y));
  for (float i = 0.0; i < 3.0; i++) {
    float ridge = -0.02 - 0.13 * i + 0.28 * fbm(vec2(ray.x * (2.0 + i) + i * 9.0 + 0.02 * time * i, i), 5);
    light = mix(light, mix(vec3(0.19, 0.25, 0.28), vec3(0.03, 0.06, 0.065), i * 0.48), smoothstep(0.006, -0.006, ray.y - ridge + 0.1));
  }
  float t = 0.6;
  bool hit = false;
  for (int i = 0; i < 90 && t < 6.0; i++) {
    vec3 at = eye + ray * t;
    float gap = 0.8 - rock(at.xy) - at.z;
    if (gap < 0.004) { hit = true; break; }
    t += gap * 0.4;
  }
  if (hit) {
    vec3 at = eye + ray * t;
    vec2 e = vec2(0.008, 0);
    float r = rock(at.xy);
    vec3 normal = normalize(vec3(-(rock(at.xy + e) - r), -(rock(at.xy + e.yx) - r), -e.x));
    float wet = stream(at.xy);
    vec3 stone = mix(vec3(0.05, 0.058, 0.065), vec3(0.2, 0.18, 0.155), fbm(at.xy * vec2(2.0, 5.0), 4));
    stone = mix(stone, vec3(0.09, 0.15, 0.07), 0.75 * smoothstep(0.52, 0.7, fbm(at.xy * 2.6 + 30.0, 4)) * max(-normal.z * 0.3 + normal.y, 0.0));
    float lit = max(dot(normal, LIGHT), 0.0);
    float cavity = smoothstep(-0.25, 0.5, r - fbm(at.xy * 0.9 + 11.0, 2) * 0.75);
    vec3 shine = reflect(ray, normalize(normal + vec3(0, 0, -0.3 * wet)));
    float glint = pow(max(dot(shine, LIGHT), 0.0), 22.0);
    vec3 wall = stone * (vec3(1.2, 1.1, 1.0) * 1.25 * lit + vec3(0.09, 0.14, 0.18) * (0.4 + 0.6 * cavity));
    wall += vec3(0.75, 0.86, 0.95) * (0.4 * glint + wet * (0.08 + 0.5 * lit));
    light = mix(wall, light, smoothstep(2.6, 8.0, t) * 0.8);
  }
  float rain = 0.16 * drops(uv, 26.0, 3.4, 1.0) + 0.22 * drops(uv + 3.0, 15.0, 2.7, 2.0) + 0.3 * drops(uv + 5.0, 8.0, 2.2, 3.0);
  light += vec3(0.75, 0.85, 0.95) * rain * 0.4;
  finish(light);
}
`;

/** Cloud lifting off a calm sea. */
const CLOUD = `
const vec3 SUN = normalize(vec3(-0.3, 0.2, 1.0));

vec3 sky(vec3 ray) {
  float sun = max(dot(ray, SUN), 0.0);
  vec3 light = mix(vec3(0.95, 0.5, 0.34), vec3(0.1, 0.22, 0.5), smoothstep(-0.02, 0.5, ray.y));
  return light + vec3(1.0, 0.55, 0.25) * (0.55 * pow(sun, 9.0) + 3.0 * pow(sun, 700.0));
}
float density(vec3 p, int octaves) {
  p.y -= 0.32 * time;
  vec3 q = p * vec3(0.3, 0.36, 0.3) + vec3(4.3, 0.4, 3.0);
  float sum = 0.0, weight = 0.55;
  for (int i = 0; i < octaves; i++, weight *= 0.5) {
    sum += weight * noise(q);
    q = q * 2.1 + vec3(1.7, 0.6, 0.03 * time);
  }
  float shape = smoothstep(1.3, 1.9, p.y + 0.32 * time) * smoothstep(7.0, 3.5, p.y);
  return smoothstep(0.535, 0.64, sum) * shape;
}
void main() {
  vec3 eye = vec3(0.25 * time, 1.0 + 0.28 * time, 0.9 * time);
  vec3 ray = rayTo(eye, eye + vec3(-0.1, 0.1 + 0.035 * time, 1.0), 1.1);
  vec3 away = ray;
  float start = 0.0;
  vec3 from = eye;
  float sea = 0.0;
  vec3 normal = vec3(0, 1, 0);
  if (ray.y < 0.0) {
    float t = -eye.y / ray.y;
    vec3 at = eye + ray * t;
    vec2 p = at.xz * vec2(1.0, 1.5);
    float swell = 1.0 / (1.0 + 0.05 * t);
    vec2 wave = vec2(fbm(p * 1.1 + time * 0.5, 4) - fbm(p * 1.1 + vec2(0.3, 0) + time * 0.5, 4), fbm(p * 1.1 + time * 0.5, 4) - fbm(p * 1.1 + vec2(0, 0.3) + time * 0.5, 4));
    normal = normalize(vec3(wave.x * 0.55 * swell, 1.0, wave.y * 0.9 * swell));
    sea = t;
    from = at;
    ray = reflect(ray, normal);
    ray.y = abs(ray.y) + 0.02;
  }
  vec3 light = sky(ray);
  float through = 1.0;
  vec3 cloud = vec3(0);
  float low = max((1.2 - from.y) / max(ray.y, 0.001), 0.0);
  float t = max(low, 1.0), far = min(40.0, (9.0 - from.y) / max(ray.y, 0.001));
  int steps = sea > 0.0 ? 18 : 46;
  float stride = (min(far, 34.0) - t) / float(steps);
  if (stride > 0.0) {
    t += stride * hash(gl_FragCoord.xy) * 0.35;
    for (int i = 0; i < 46; i++) {
      if (i >= steps || through < 0.04) break;
      vec3 at = from + ray * t;
      float here = density(at, sea > 0.0 ? 3 : 5);
      if (here > 0.01) {
        float shade = density(at + SUN * 0.5, 3) + density(at + SUN * 1.3 + vec3(0, 0.3, 0), 2);
        vec3 colour = mix(vec3(1.5, 0.98, 0.68), vec3(0.15, 0.18, 0.33), 1.0 - exp(-1.9 * shade));
        colour += vec3(1.2, 0.7, 0.35) * 0.7 * pow(max(dot(ray, SUN), 0.0), 6.0) * exp(-1.5 * here);
        colour = mix(colour, sky(vec3(ray.x, 0.05, ray.z)), 1.0 - exp(-0.0014 * t * t));
        float alpha = 1.0 - exp(-here * stride * 1.5);
        cloud += through * alpha * colour;
        through *= 1.0 - alpha;
      }
      t += stride;
    }
  }
  light = light * through + cloud;
  if (sea > 0.0) {
    float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(-away, normal), 0.0), 4.5);
    light = mix(vec3(0.02, 0.1, 0.16), light, fresnel);
    light += vec3(1.0, 0.62, 0.32) * 2.2 * pow(max(dot(ray, SUN), 0.0), 220.0);
    light = mix(light, sky(normalize(vec3(away.x, 0.015, away.z))), 1.0 - exp(-0.0005 * sea * sea));
  }
  finish(light);
}
`;

/** Sinking through blue water into the dark, to a white seam in the rock. */
const DEEP = `
/** How far the walls of the chasm stand out. */
float wall(vec3 p) {
  float layers = 0.16 * smoothstep(0.15, 0.85, fract(p.y * 0.75 + 0.35 * fbm(p.yz * 0.5, 2)));
  float side = abs(p.x + 0.35 * sin(p.z * 0.5)) - 1.75;
  return -side - layers - 1.0 * (fbm(p.yz * vec2(0.55, 0.7) + sign(p.x) * 9.0, 4) - 0.35);
}
void main() {
  float depth = 1.1 * time + 0.1 * time * time;
  vec3 eye = vec3(0.25 * sin(time * 0.4), -depth, 0.25 * time);
  vec3 ray = rayTo(eye, eye + vec3(0.1 * sin(time * 0.3), 0.5 - 0.22 * time, 1.0), 1.0);
  float dark = exp(-0.3 * depth);
  float up = smoothstep(-0.7, 0.9, ray.y);
  vec3 water = mix(vec3(0.004, 0.03, 0.07), vec3(0.07, 0.45, 0.55), up * up * (0.25 + 0.75 * dark) + 0.06 * dark);
  vec3 light = water;
  float t = 0.2;
  for (int i = 0; i < 70 && t < 12.0; i++) {
    float gap = wall(eye + ray * t);
    if (gap < 0.004 * t) break;
    t += gap * 0.55;
  }
  vec3 at = eye + ray * t;
  if (t < 12.0) {
    vec2 e = vec2(0.012, 0);
    float g = wall(at);
    vec3 normal = normalize(vec3(wall(at + e.xyy), wall(at + e.yxy), wall(at + e.yyx)) - g);
    float seam = smoothstep(-5.3, -5.7, at.y + 0.5 * fbm(at.zy * 1.3, 3)) * (0.75 + 0.25 * noise(at.zy * 14.0));
    vec3 stone = mix(vec3(0.1, 0.13, 0.14), vec3(0.26, 0.24, 0.2), fbm(at.zy * 3.0, 4));
    stone = mix(stone, vec3(0.95, 0.98, 1.0), seam);
    float ripples = pow(1.0 - abs(2.0 * noise(at.xz * 2.2 + vec2(time * 0.7, at.y * 0.4)) - 1.0), 5.0);
    float sun = exp(0.34 * at.y) * (0.35 + 1.6 * ripples) * max(normal.y * 0.6 + 0.45, 0.0);
    float lamp = smoothstep(2.2, 4.4, depth) * max(dot(normal, -ray), 0.0) * 2.6 / (1.0 + 0.22 * t * t);
    vec3 lit = stone * (vec3(0.5, 1.0, 0.95) * sun * 1.5 + vec3(0.85, 0.97, 1.0) * lamp + 0.08 * dark);
    light = mix(lit, water, 1.0 - exp(-0.035 * t * t));
  }
  // Light from above in shafts, which fade on the way down.
  vec2 uv = (2.0 * gl_FragCoord.xy - size) / size.x;
  float tilt = 0.5 - 0.22 * time;
  vec2 source = vec2(0.25, 3.4 - tilt);
  vec2 from = uv - source;
  float angle = from.x / -from.y;
  float shafts = smoothstep(0.45, 0.95, noise(vec2(angle * 7.0 + 0.25 * time, 0.4 * time)) * 0.6 + noise(vec2(angle * 17.0 - 0.4 * time, 3.0)) * 0.45);
  light += vec3(0.25, 0.75, 0.75) * shafts * 0.5 * dark * smoothstep(5.2, 1.0, length(from));
  // Specks that drift up as the camera sinks.
  for (float i = 0.0; i < 4.0; i++) {
    float scale = 3.0 + 2.5 * i;
    vec2 p = uv * scale + vec2(i * 3.7 + 0.15 * sin(time + i), -(depth * 0.55 + 0.2 * i) * scale * 0.55);
    vec2 spot = floor(p) + 0.3 + 0.4 * vec2(hash(floor(p)), hash(floor(p) + 5.0));
    float speck = step(0.72, hash(floor(p) + 9.0)) * smoothstep(0.07, 0.0, length(p - spot));
    light += vec3(0.5, 0.8, 0.85) * speck * 0.35 * (0.3 + 0.7 * dark);
  }
  finish(light);
}
`;

const SHADERS = { river: RIVER, rain: RAIN, cloud: CLOUD, deep: DEEP };
export type Scene = keyof typeof SHADERS;

const VERTICES = "#version 300 es\nin vec2 corner;void main(){gl_Position=vec4(corner,0,1);}";
/** Drawn larger, and shrunk for smooth edges. */
const OVERSAMPLING = 1.5;

/** Prepares a scene on a picture of this size. The function that comes back draws it, and gives it as a data URL. */
function prepare(scene: Scene, width: number, height: number): (seconds: number) => string {
  const drawing = new OffscreenCanvas(width * OVERSAMPLING, height * OVERSAMPLING);
  const gl = drawing.getContext("webgl2");
  const picture = document.createElement("canvas");
  Object.assign(picture, { width, height });
  const paper = picture.getContext("2d");
  if (gl === null || paper === null) throw new Error("This browser has no WebGL 2.");
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTICES],
    [gl.FRAGMENT_SHADER, COMMON + SHADERS[scene]],
  ] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) throw new Error("The browser makes no shader.");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (gl.getShaderParameter(shader, gl.COMPILE_STATUS) !== true)
      throw new Error(`${scene}: ${gl.getShaderInfoLog(shader)}`);
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, "corner");
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.viewport(0, 0, drawing.width, drawing.height);
  gl.uniform2f(gl.getUniformLocation(program, "size"), drawing.width, drawing.height);
  const time = gl.getUniformLocation(program, "time");
  return (seconds) => {
    gl.uniform1f(time, seconds);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    paper.imageSmoothingQuality = "high";
    paper.drawImage(drawing, 0, 0, width, height);
    paper.fillStyle = "#0009";
    paper.beginPath();
    paper.roundRect(14, height - 46, 90, 32, 16);
    paper.fill();
    paper.font = "600 20px Inter";
    paper.fillStyle = "#fff";
    paper.fillText("sample", 24, height - 23);
    return picture.toDataURL("image/png");
  };
}

Object.assign(globalThis, { prepare });
